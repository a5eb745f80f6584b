// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/podgc/pod_gc_controller.h"

#include <map>

#include "api/core/v1.h"
#include "base/await_stop.h"
#include "base/mutex.h"
#include "controllers/lifecycle/podgc/decide.h"
#include "controllers/shared/pods/by_node.h"
#include "coxswain/conditions.h"
#include "object/core/pod_state.h"

namespace cox::controllers {
namespace {

using core::v1::Node;
using core::v1::Pod;
using std::chrono::seconds;

// A deleted node may be registered again, as kubelets do on restart.
constexpr seconds kQuarantine{40};
// Delay before terminated Pods are counted, so that one pass covers many.
constexpr seconds kCountAfter{20};

struct Ended {
  static constexpr std::string_view kName = "podgc/ended";
  static std::string Of(const Pod& pod) { return core_rules::IsTerminal(pod) ? "yes" : ""; }
};

// The queue contains three sorts of keys: a key with a namespace is a Pod, one without is a Node,
// and this key represents all terminated Pods.
const ObjectKey kAllEnded = {};

// The reason of a deletion, as reported in the metrics.
struct Why {
  const char* reason;
  bool node_gone = false;
};
constexpr Why kNodeGone = {"orphaned", true};
constexpr Why kNodeOut = {"out-of-service"};
constexpr Why kTooMany = {"terminated"};
constexpr Why kUnscheduled = {"unscheduled-terminating"};

class PodGcReconciler final : public Reconciler {
 public:
  PodGcReconciler(Manager& manager, int threshold)
      : threshold_(threshold),
        client_(manager.client()),
        nodes_(manager.cache().ListerOf<Node>()),
        pods_(manager.cache().ListerOf<Pod>()),
        by_node_(manager.cache().IndexOf<Pod, pods::ByNode>()),
        ended_(manager.cache().IndexOf<Pod, Ended>()),
        deleted_(manager.metrics().AddCounterVec({"pod_gc_collector_force_delete_pods_total",
                                                  "Number of pods that are being forcefully "
                                                  "deleted since the Pod GC Controller "
                                                  "started."},
                                                 {"namespace", "reason"})),
        failed_(manager.metrics().AddCounterVec(
            {"pod_gc_collector_force_delete_pod_errors_total",
             "Number of errors encountered when forcefully deleting the pods since the Pod GC "
             "Controller started."},
            {"namespace", "reason"})) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    if (key == kAllEnded) return Done(Collect(ctx, TooMany(), kTooMany));
    if (key.ns.empty()) return ReconcileNode(ctx, key);
    const auto pod = pods_.Get(key);
    if (pod == nullptr || !IsUnscheduledAndDeleted(*pod)) return ReconcileResult::Done();
    return Done(Collect(ctx, {pod}, kUnscheduled));
  }

 private:
  static Result<ReconcileResult> Done(const Status& status) {
    if (!status.ok()) return status;
    return ReconcileResult::Done();
  }

  std::vector<PodPtr> TooMany() const { return BeyondThreshold(ended_.Find("yes"), threshold_); }

  Result<ReconcileResult> ReconcileNode(Context& ctx, const ObjectKey& key) {
    const auto node = nodes_.Get(key);
    if (node != nullptr && !IsOutOfService(*node)) {
      Seen(key.name);
      return ReconcileResult::Done();
    }
    std::vector<PodPtr> pods = by_node_.Find(key.name);
    if (node != nullptr) {
      Seen(key.name);
      std::erase_if(pods, [](const PodPtr& pod) { return !pod->metadata.deletionTimestamp; });
      return Done(Collect(ctx, pods, kNodeOut));
    }
    if (pods.empty()) {
      Seen(key.name);
      return ReconcileResult::Done();
    }
    const Clock::SteadyTime now = ctx.clock().Monotonic();
    const Clock::SteadyTime end = MissingSince(key.name, now) + kQuarantine;
    if (now < end) return ReconcileResult::After(end - now);
    // The cache may be stale, and the deletion of a running Pod cannot be undone.
    const Status live = client_.Get<Node>(ctx, key).status();
    if (live.ok()) {
      Seen(key.name);
      return ReconcileResult::Done();  // the informer delivers the node later
    }
    if (!live.Is(Reason::kNotFound)) return live;
    return Done(Collect(ctx, pods, kNodeGone));
  }

  // Continues after errors and returns the first one.
  Status Collect(Context& ctx, const std::vector<PodPtr>& pods, const Why& why) {
    Status first;
    for (const PodPtr& pod : pods) {
      if (ctx.Done()) return ctx.status();
      const Status status = Remove(ctx, *pod, why);
      (status.ok() ? deleted_ : failed_).With({pod->metadata.namespace_, why.reason}).Inc();
      if (first.ok()) first = status;
    }
    return first;
  }

  Status Remove(Context& ctx, const Pod& pod, const Why& why) {
    COX_INFO(ctx.log(), "Deleting pod", {"pod", KeyOf(pod).ToString()}, {"reason", why.reason});
    Pod failed = pod;
    if (MarkFailed(why.node_gone, TimeNow(ctx.clock()), failed)) {
      // A patch, because the controller's RBAC role allows only that.
      const Status status =
          client_.PatchStatus<Pod>(ctx, KeyOf(pod), Patch::Between(pod, failed, true)).status();
      if (status.Is(Reason::kNotFound)) return {};
      if (!status.ok()) return status;
    }
    const Status status =
        client_.Delete<Pod>(ctx, KeyOf(pod), {.grace_period = seconds(0), .uid = pod.metadata.uid});
    return status.Is(Reason::kNotFound) ? Status() : status;
  }

  Clock::SteadyTime MissingSince(const std::string& node, Clock::SteadyTime now) {
    MutexLock lock(mu_);
    return missing_.try_emplace(node, now).first->second;
  }
  void Seen(const std::string& node) {
    MutexLock lock(mu_);
    missing_.erase(node);
  }

  const int threshold_;
  Client& client_;
  const Lister<Node> nodes_;
  const Lister<Pod> pods_;
  const Index<Pod, pods::ByNode> by_node_;
  const Index<Pod, Ended> ended_;
  CounterVec& deleted_;
  CounterVec& failed_;
  Mutex mu_;
  // Nodes that Pods reference and that do not exist, with the time when this was first observed.
  std::map<std::string, Clock::SteadyTime> missing_ COX_GUARDED_BY(mu_);
};

// Maps a Pod to the keys that its change affects.
std::function<std::vector<ObjectKey>(const Pod&)> KeysOfPod(Lister<Node> nodes) {
  return [nodes = std::move(nodes)](const Pod& pod) -> std::vector<ObjectKey> {
    if (pod.spec.nodeName.empty()) {
      if (!IsUnscheduledAndDeleted(pod)) return {};
      return {KeyOf(pod)};
    }
    const auto node = nodes.Get({"", pod.spec.nodeName});
    const bool concerned =
        node == nullptr || (pod.metadata.deletionTimestamp && IsOutOfService(*node));
    if (!concerned) return {};
    return {{"", pod.spec.nodeName}};
  };
}

// Enqueues kAllEnded some time after a Pod becomes terminal.
Source WhenPodsHaveEnded(Cache& cache) {
  return [pods = cache.Get(Resource::Of<Pod>())](Context& ctx, WorkQueue& queue) {
    const InformerHandle handle = pods->AddHandler([&queue](const Delta& delta) {
      const auto ended = [](const ObjectPtr& object) {
        const auto pod = As<Pod>(object);
        return pod != nullptr && core_rules::IsTerminal(*pod);
      };
      if (ended(delta.after) && !ended(delta.before)) queue.AddAfter(kAllEnded, kCountAfter);
    });
    (void)AwaitStop(ctx);
    return Status();
  };
}

}  // namespace

Status AddPodGcController(Manager& manager, const PodGcOptions& options) {
  Cache& cache = manager.cache();
  auto builder = ControllerFor<Node>(manager);
  builder.Named("pod-garbage-collector-controller")
      .Watches<Pod>(KeysOfPod(cache.ListerOf<Node>()))
      .With({.max_concurrent_reconciles = 4});
  if (options.terminated_pod_threshold > 0) builder.From(WhenPodsHaveEnded(cache));
  return builder.Complete(
      std::make_unique<PodGcReconciler>(manager, options.terminated_pod_threshold));
}

}  // namespace cox::controllers

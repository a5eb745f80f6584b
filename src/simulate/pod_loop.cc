// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/core/v1.h"
#include "base/mutex.h"
#include "object/core/pod_state.h"
#include "simulate/addresses.h"
#include "simulate/loops.h"
#include "simulate/node_life.h"
#include "simulate/pod_life.h"

namespace cox::simulate {
namespace {

using core::v1::Node;
using core::v1::Pod;
using PodPtr = std::shared_ptr<const Pod>;

struct ByNode {
  static constexpr std::string_view kName = "spec.nodeName";
  static std::string Of(const Pod& pod) { return pod.spec.nodeName; }
};

// Threads: like Reconciler.
class PodLoop final : public Reconciler {
 public:
  PodLoop(Manager& manager, const Options& options)
      : options_(options),
        client_(manager.client()),
        pods_(manager.cache().ListerOf<Pod>()),
        nodes_(manager.cache().ListerOf<Node>()),
        handler_(manager.cache().InformerOf<Pod>().AddHandler(
            {.on_add = [this](const PodPtr& pod) { OnAdd(*pod); },
             .on_update = [this](const PodPtr& before,
                                 const PodPtr& after) { OnUpdate(*before, *after); },
             .on_delete = [this](const PodPtr& last) { OnDelete(*last); }})) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const PodPtr pod = pods_.Get(key);
    if (pod == nullptr) return ReconcileResult::Done();
    const std::optional<int> number = NodeNumber(options_, pod->spec.nodeName);
    if (!number || IsSilent(pod->spec.nodeName)) return ReconcileResult::Done();
    const Result<DesiredPodState> desired = DesiredStateOf(*pod, options_);
    if (!desired.ok()) return ReconcileResult::GiveUp(desired.status());
    const Clock::WallTime now = ctx.clock().Now();
    const Clock::WallTime seen =
        desired->startup_delay > Clock::Duration() ? SeenSince(*pod, now) : now;
    PodStep step = NextStep(*pod, *desired, NodeAddress(*number), seen, now);
    Status done;
    if (step.action == PodStep::Action::kSetStatus) done = SetStatus(ctx, *pod, *number, step);
    if (step.action == PodStep::Action::kDelete) {
      done = client_.Delete<Pod>(
          ctx, key, {.grace_period = std::chrono::seconds(0), .uid = pod->metadata.uid});
    }
    // Deleted, or replaced by a Pod with the same name, which has its own events.
    if (done.Is(Reason::kNotFound)) return ReconcileResult::Done();
    COX_RETURN_IF_ERROR(done);
    return step.again ? ReconcileResult::After(*step.again) : ReconcileResult::Done();
  }

 private:
  bool IsSilent(const std::string& name) const {
    if (options_.fail.contains(name)) return true;
    const std::shared_ptr<const Node> node = nodes_.Get({"", name});
    return node == nullptr || IsSilenced(*node);
  }

  Status SetStatus(Context& ctx, const Pod& pod, int number, PodStep& step) {
    std::string taken;
    if (step.needs_address) {
      std::string address = pod.spec.hostNetwork ? NodeAddress(number) : pod.status.podIP;
      if (address.empty()) address = taken = addresses_.Take(number);
      if (address.empty()) {
        return Status::Unavailable("node " + pod.spec.nodeName + " has no address left");
      }
      SetPodAddress(step.status, std::move(address));
    }
    const Status patched =
        client_.PatchStatus<Pod>(ctx, KeyOf(pod), Patch::Strategic(StatusPatchOf(pod, step.status)))
            .status();
    if (!patched.ok() && !taken.empty()) addresses_.Release(number, taken);
    if (patched.ok()) Forget(pod.metadata.uid);
    return patched;
  }

  // Pods that existed before this process count from the first observation.
  Clock::WallTime SeenSince(const Pod& pod, Clock::WallTime now) {
    if (!pod.status.containerStatuses.empty()) return now;
    MutexLock lock(mu_);
    return seen_.try_emplace(pod.metadata.uid, now).first->second;
  }
  void Forget(const std::string& uid) {
    MutexLock lock(mu_);
    seen_.erase(uid);
  }

  // Tracks the used addresses. A terminal Pod has released its address.
  void OnAdd(const Pod& pod) {
    const std::optional<int> number = NodeNumber(options_, pod.spec.nodeName);
    if (number && !core_rules::IsTerminal(pod)) addresses_.Keep(*number, pod.status.podIP);
  }
  void OnUpdate(const Pod& before, const Pod& after) {
    if (!core_rules::IsTerminal(before) && core_rules::IsTerminal(after)) Release(after);
  }
  void OnDelete(const Pod& last) {
    Forget(last.metadata.uid);
    if (!core_rules::IsTerminal(last)) Release(last);
  }
  void Release(const Pod& pod) {
    const std::optional<int> number = NodeNumber(options_, pod.spec.nodeName);
    if (number) addresses_.Release(*number, pod.status.podIP);
  }

  const Options options_;
  Client& client_;
  const Lister<Pod> pods_;
  const Lister<Node> nodes_;
  PodAddresses addresses_;
  Mutex mu_;
  // By uid: Pods that wait for their startup delay.
  std::unordered_map<std::string, Clock::WallTime> seen_ COX_GUARDED_BY(mu_);
  const InformerHandle handler_;  // last: its callbacks use the other members
};

}  // namespace

Status AddPodLoop(Manager& manager, const Options& options) {
  ControllerOptions controller;
  controller.max_concurrent_reconciles = options.workers;
  controller.limiter = ExponentialBackoff(std::chrono::milliseconds(50), std::chrono::seconds(10));
  const Index<Pod, ByNode> by_node = manager.cache().IndexOf<Pod, ByNode>();
  return ControllerFor<Pod>(manager)
      .Named("simulated-pods")
      .With(std::move(controller))
      // A Node was added, or its heartbeats were stopped or resumed.
      .Watches<Node>(
          [by_node](const Node& node) {
            std::vector<ObjectKey> keys;
            for (const PodPtr& pod : by_node.Find(node.metadata.name)) keys.push_back(KeyOf(*pod));
            return keys;
          },
          [options](const Delta& delta) {
            const auto before = As<Node>(delta.before);
            const auto after = As<Node>(delta.after);
            if (after == nullptr || !NodeNumber(options, after->metadata.name)) return false;
            return before == nullptr || IsSilenced(*before) != IsSilenced(*after);
          })
      .Complete(std::make_unique<PodLoop>(manager, options));
}

}  // namespace cox::simulate

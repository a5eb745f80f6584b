// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/tainteviction/tainteviction_controller.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/log.h"
#include "base/strings.h"
#include "controllers/node/nodelifecycle/condition_taints.h"
#include "controllers/node/tainteviction/eviction_time.h"
#include "controllers/shared/pods/by_node.h"
#include "controllers/shared/pods/pod_state.h"
#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

using core::v1::Node;
using core::v1::Pod;
using core::v1::Taint;

// A read of the Node that takes longer shows that the control plane is overloaded: then the taints
// of unreachable nodes may be wrong, and evictions wait.
constexpr std::chrono::seconds kReadLimit{2};
constexpr std::chrono::seconds kPause{5};

// The taints that the node lifecycle controller derives from missing heartbeats and from the Ready
// condition.
bool IsHealthTaint(const Taint& taint) {
  return taint.key == kNotReadyTaint || taint.key == kUnreachableTaint;
}

class TaintEviction final : public Reconciler {
 public:
  explicit TaintEviction(Manager& manager)
      : client_(manager.client()),
        events_(manager.events()),
        clock_(manager.context().clock()),
        nodes_(manager.cache().ListerOf<Node>()),
        pods_(manager.cache().IndexOf<Pod, pods::ByNode>()),
        deletions_(manager.metrics().AddCounter(
            {.name = "taint_eviction_controller_pod_deletions_total",
             .help = "Pods deleted by the taint eviction controller since it started."})) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const auto node = nodes_.Get(key);
    List<Taint> taints = node == nullptr ? List<Taint>() : NoExecuteTaints(*node);
    SetTaintTimes(key.name, taints);
    if (taints.empty()) {
      CancelEviction(key.name, {});
      return ReconcileResult::Done();
    }
    const Time now = pods::PreciseNow(clock_);
    std::optional<Time> next;
    std::set<ObjectKey> waiting;
    Status failed;
    std::optional<bool> confirmed;
    for (const auto& pod : pods_.Find(key.name)) {
      if (pod->metadata.deletionTimestamp.has_value()) continue;
      const std::optional<Time> at = EvictionTime(*pod, taints);
      if (!at.has_value()) continue;
      if (*at <= now) {
        if (!confirmed.has_value()) {
          COX_ASSIGN_OR_RETURN(confirmed, ConfirmTaints(ctx, *node));
        }
        if (!*confirmed) return ReconcileResult::After(kPause);
        const Status evicted = Evict(ctx, *pod);
        if (!evicted.ok()) failed = evicted;
        continue;
      }
      waiting.insert(KeyOf(*pod));
      if (!next.has_value() || *at < *next) next = at;
    }
    CancelEviction(key.name, std::move(waiting));
    COX_RETURN_IF_ERROR(failed);
    if (!next.has_value()) return ReconcileResult::Done();
    return ReconcileResult::After(std::chrono::nanoseconds((*next - now).nanos));
  }

 private:
  // Before the first eviction: reads the node from the store if it is tainted because of its
  // health. False: the read was slow, or the taints have changed, which the watch delivers later.
  Result<bool> ConfirmTaints(Context& ctx, const Node& node) {
    if (std::none_of(node.spec.taints.begin(), node.spec.taints.end(), IsHealthTaint)) return true;
    const Clock::SteadyTime began = clock_.Monotonic();
    Context attempt = ctx.WithTimeout(kReadLimit);
    const Result<Node> read = client_.Get<Node>(attempt, KeyOf(node));
    if (read.status().Is(Reason::kNotFound) || read.status().Is(Reason::kForbidden)) return true;
    const Clock::Duration took = clock_.Monotonic() - began;
    if (!read.ok() || took > kReadLimit) {
      COX_WARNING(ctx.log(), "The API server is slow or unreachable: evictions wait",
                  {"node", node.metadata.name}, {"took", FormatDuration(took)});
      return false;
    }
    return NoExecuteTaints(*read) == NoExecuteTaints(node);
  }

  // Taints that users add may have no timeAdded: the time when they were first observed is used.
  void SetTaintTimes(const std::string& node, List<Taint>& taints) {
    MutexLock lock(mu_);
    std::unordered_map<std::string, Time> seen;
    for (Taint& taint : taints) {
      if (taint.timeAdded.has_value()) continue;
      const std::string text = taint.key + "=" + taint.value;
      const auto& before = first_seen_[node];
      const auto found = before.find(text);
      taint.timeAdded = found == before.end() ? TimeNow(clock_) : found->second;
      seen[text] = *taint.timeAdded;
    }
    if (seen.empty()) {
      first_seen_.erase(node);
    } else {
      first_seen_[node] = std::move(seen);
    }
  }

  // Stores the Pods whose eviction is pending and records an event for those that stay after all.
  void CancelEviction(const std::string& node, std::set<ObjectKey> waiting) {
    std::set<ObjectKey> before;
    {
      MutexLock lock(mu_);
      if (const auto found = waiting_.find(node); found != waiting_.end()) {
        before = std::move(found->second);
        waiting_.erase(found);
      }
      if (!waiting.empty()) waiting_[node] = waiting;
    }
    if (before.empty()) return;
    for (const auto& pod : pods_.Find(node)) {
      const ObjectKey key = KeyOf(*pod);
      if (!before.contains(key) || waiting.contains(key)) continue;
      if (pod->metadata.deletionTimestamp.has_value()) continue;
      events_.Record(*pod, EventKind::kNormal, "TaintManagerEviction", "Evicting",
                     "Cancelling deletion of Pod " + key.ToString());
    }
  }

  Status Evict(Context& ctx, const Pod& pod) {
    const ObjectKey key = KeyOf(pod);
    Pod marked = pod;
    const bool changed = SetCondition(marked.status.conditions,
                                      {.type = core::v1::kDisruptionTarget,
                                       .observedGeneration = pod.metadata.generation,
                                       .status = core::v1::kConditionTrue,
                                       .reason = "DeletionByTaintManager",
                                       .message = "Taint manager: deleting due to NoExecute taint"},
                                      TimeNow(clock_));
    if (changed) {
      const Status status =
          client_.PatchStatus<Pod>(ctx, key, Patch::Between(pod, marked, true)).status();
      if (status.Is(Reason::kNotFound)) return {};
      COX_RETURN_IF_ERROR(status);
    }
    events_.Record(pod, EventKind::kNormal, "TaintManagerEviction", "Evicting",
                   "Marking for deletion Pod " + key.ToString());
    const Status deleted = client_.Delete<Pod>(ctx, key, {.uid = pod.metadata.uid});
    if (deleted.Is(Reason::kNotFound)) return {};
    COX_RETURN_IF_ERROR(deleted);
    deletions_.Inc();
    return {};
  }

  Client& client_;
  EventRecorder& events_;
  Clock& clock_;
  const Lister<Node> nodes_;
  const Index<Pod, pods::ByNode> pods_;
  Counter& deletions_;
  Mutex mu_;
  std::unordered_map<std::string, std::unordered_map<std::string, Time>> first_seen_
      COX_GUARDED_BY(mu_);
  std::unordered_map<std::string, std::set<ObjectKey>> waiting_ COX_GUARDED_BY(mu_);
};

bool TaintsChanged(const Delta& delta) {
  if (delta.before == nullptr || delta.after == nullptr) return true;
  const Node* before = delta.before->As<Node>();
  const Node* after = delta.after->As<Node>();
  if (before == nullptr || after == nullptr) return true;
  return before->spec.taints != after->spec.taints;
}

// Passes Pods that were bound to a node or whose tolerations changed.
bool PlaceChanged(const Delta& delta) {
  if (delta.after == nullptr) return false;
  if (delta.before == nullptr) return true;
  const Pod* before = delta.before->As<Pod>();
  const Pod* after = delta.after->As<Pod>();
  return before == nullptr || after == nullptr || before->spec.nodeName != after->spec.nodeName ||
         before->metadata.uid != after->metadata.uid ||
         before->spec.tolerations != after->spec.tolerations;
}

}  // namespace

Status AddTaintEvictionController(Manager& manager) {
  return ControllerFor<Node>(manager)
      .Named("taint-eviction-controller")
      .With({.max_concurrent_reconciles = 8})
      .Filter([](const Delta& delta) {
        const ObjectPtr& object = delta.object();
        return object->As<Node>() != nullptr ? TaintsChanged(delta) : PlaceChanged(delta);
      })
      .Watches<Pod>([](const Pod& pod) {
        return pod.spec.nodeName.empty() ? std::vector<ObjectKey>()
                                         : std::vector<ObjectKey>{{"", pod.spec.nodeName}};
      })
      .Complete(std::make_unique<TaintEviction>(manager));
}

}  // namespace cox::controllers

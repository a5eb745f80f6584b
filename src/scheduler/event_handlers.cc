// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "object/core/pod_state.h"
#include "scheduler/scheduler.h"
#include "scheduler/trim.h"

// Forwards informer events to the cache and the queue.
namespace cox::scheduler {

using core::v1::Node;
using core::v1::Pod;

void Scheduler::OnPod(const Delta& delta) {
  const std::shared_ptr<const Pod> before = As<Pod>(delta.before);
  const std::shared_ptr<const Pod> after = As<Pod>(delta.after);
  // A terminal Pod uses no resources of its node.
  if (after == nullptr || core_rules::IsTerminal(*after)) {
    OnPodDeleted(after != nullptr ? after : before);
    return;
  }
  if (!after->spec.nodeName.empty()) {
    OnAssignedPod(before, MakePodInfo(after));
    return;
  }
  if (!profiles_.contains(after->spec.schedulerName)) return;
  if (after->metadata.deletionTimestamp) {
    queue_.Delete(after->metadata.uid);
    (void)waiting_->Reject(after->metadata.uid, "", "the pod is being deleted");
    return;
  }
  // A bound Pod may be delivered once more without its node, if another writer updates it
  // concurrently.
  const bool assumed = cache_.IsAssumed(after->metadata.uid);
  queue_.Set(MakePodInfo(Trimmed(after)), /*only_if_known=*/assumed);
}

void Scheduler::OnPodDeleted(const std::shared_ptr<const Pod>& pod) {
  const std::string& uid = pod->metadata.uid;
  queue_.Delete(uid);
  (void)waiting_->Reject(uid, "", "the pod was deleted");
  if (cache_.RemovePod(uid) == nullptr) return;
  queue_.OnEvent({.bits = kAssignedPodDelete, .old_pod = MakePodInfo(pod)});
}

void Scheduler::OnAssignedPod(const std::shared_ptr<const Pod>& before, const PodInfoPtr& pod) {
  queue_.Delete(pod->uid());
  const PodUsagePtr was = cache_.SetPod(*pod);
  if (was == nullptr) {
    queue_.OnEvent({.bits = kAssignedPodAdd, .new_pod = pod});
    return;
  }
  const bool arrived = before != nullptr && before->spec.nodeName.empty();
  const uint32_t bits =
      (arrived ? kAssignedPodAdd : 0U) | AssignedPodChange(before.get(), *was, *pod);
  if (bits == 0) return;
  queue_.OnEvent(
      {.bits = bits, .old_pod = before == nullptr ? nullptr : MakePodInfo(before), .new_pod = pod});
}

void Scheduler::OnNode(const Delta& delta) {
  const std::shared_ptr<const Node> before = As<Node>(delta.before);
  const std::shared_ptr<const Node> after = As<Node>(delta.after);
  if (after == nullptr) {
    cache_.RemoveNode(before->metadata.name);
    queue_.OnEvent({.bits = kNodeDelete, .old_node = before});
    return;
  }
  cache_.SetNode(after);
  if (delta.type == Delta::Type::kResync) return;
  const uint32_t bits = before == nullptr ? uint32_t{kNodeAdd} : NodeChange(*before, *after);
  if (bits != 0) queue_.OnEvent({.bits = bits, .old_node = before, .new_node = after});
}

}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/replicaset/replicaset_controller.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "controllers/shared/pods/batches.h"
#include "controllers/shared/pods/by_controller.h"
#include "controllers/shared/pods/claim.h"
#include "controllers/shared/pods/deletion_order.h"
#include "controllers/shared/pods/from_template.h"
#include "controllers/shared/pods/pacer.h"
#include "controllers/shared/pods/pod_counter.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/replicaset/replicaset_status.h"
#include "coxswain/conditions.h"
#include "coxswain/controller.h"
#include "object/type/equal.h"

namespace cox::controllers {
namespace {

using apps::v1::ReplicaSet;
using core::v1::Pod;
using pods::ByController;
using pods::PodCounter;
using pods::PodPtr;
using replicaset::Managed;

constexpr std::string_view kName = "replicaset-controller";

// Maximum number of creations or deletions in one sync, for fairness between sets.
constexpr size_t kBurst = 500;
// Up to this number of Pods, each gets its own event; more are recorded as one series.
constexpr size_t kSeparateEvents = 10;

// Returns whether a change of a Pod can affect its ReplicaSet. Most updates (binding, container
// states, addresses) do not.
bool Matters(const Delta& delta) {
  if (delta.type != Delta::Type::kUpdated) return true;
  const auto before = As<Pod>(delta.before);
  const auto after = As<Pod>(delta.after);
  if (before == nullptr || after == nullptr) return true;
  return before->metadata.deletionTimestamp.has_value() !=
             after->metadata.deletionTimestamp.has_value() ||
         before->status.phase != after->status.phase ||
         pods::ReadySince(*before) != pods::ReadySince(*after) ||
         ByController<Pod>::Of(*before) != ByController<Pod>::Of(*after) ||
         before->metadata.labels != after->metadata.labels;
}

// The namespace, and the set with it, is being deleted or gone: no error is reported.
bool NamespaceGoes(const Status& status) {
  const StatusDetails& details = status.details();
  if (status.Is(Reason::kNotFound)) return details.kind == "namespaces";
  return std::any_of(details.causes.begin(), details.causes.end(),
                     [](const StatusCause& cause) { return cause.type == "NamespaceTerminating"; });
}

PodCounter::Owner OwnerOf(const ReplicaSet& set) {
  return {.metadata = set.metadata,
          .selector = set.spec.selector.get(),
          .labels = set.spec.template_.metadata.labels,
          .min_ready_seconds = set.spec.minReadySeconds};
}

class ReplicaSetReconciler final : public Reconciler {
 public:
  ReplicaSetReconciler(Manager& manager, std::shared_ptr<PodCounter> counter)
      : client_(manager.client()),
        events_(manager.events()),
        clock_(manager.context().clock()),
        sets_(manager.cache().ListerOf<ReplicaSet>()),
        siblings_(manager.cache().IndexOf<ReplicaSet, ByController<ReplicaSet>>()),
        pods_(manager.cache().IndexOf<Pod, ByController<Pod>>()),
        counter_(std::move(counter)),
        pacer_(clock_),
        batches_(manager.context(), "replicaset") {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override;

 private:
  Result<PodCounter::Counts> CountsOf(const ReplicaSet& set);
  Status UpdateStatus(Context& ctx, const ReplicaSet& set, apps::v1::ReplicaSetStatus status);
  // Adopts and releases Pods.
  Status ClaimPods(Context& ctx, const ReplicaSet& set) const;
  Managed Manage(Context& ctx, const ReplicaSet& set, size_t active);
  Status CreatePods(Context& ctx, const ReplicaSet& set, size_t count);
  Status DeletePods(Context& ctx, const ReplicaSet& set, const std::vector<PodPtr>& chosen);
  // Returns `count` active Pods to delete first.
  std::vector<PodPtr> PodsToDelete(const ReplicaSet& set, size_t count) const;
  // Returns the Pods of all sets of the same deployment.
  std::vector<PodPtr> RelatedPods(const ReplicaSet& set, const std::vector<PodPtr>& active) const;

  // Constant after construction; thread-safe.
  Client& client_;
  EventRecorder& events_;
  Clock& clock_;
  const Lister<ReplicaSet> sets_;
  const Index<ReplicaSet, ByController<ReplicaSet>> siblings_;
  const Index<Pod, ByController<Pod>> pods_;
  const std::shared_ptr<PodCounter> counter_;
  pods::Pacer pacer_;  // of status writes
  pods::Batches batches_;
};

Result<ReconcileResult> ReplicaSetReconciler::Reconcile(Context& ctx, const ObjectKey& key) {
  const auto set = sets_.Get(key);
  if (set == nullptr) {
    pacer_.Forget(key);
    counter_->Forget(key);
    return ReconcileResult::Done();
  }
  COX_ASSIGN_OR_RETURN(PodCounter::Counts counts, CountsOf(*set));
  // The garbage collector handles the Pods of a set that is being deleted.
  if (counts.check_claims && !set->metadata.deletionTimestamp) {
    COX_RETURN_IF_ERROR(ClaimPods(ctx, *set));
    counter_->ClaimsChecked(OwnerOf(*set), counts);
    COX_ASSIGN_OR_RETURN(counts, CountsOf(*set));
  }
  const auto wanted = static_cast<size_t>(std::max(0, set->spec.replicas.value_or(1)));
  Managed managed;
  bool more = false;  // than fits in one sync
  if (!set->metadata.deletionTimestamp && counts.active != wanted) {
    managed = Manage(ctx, *set, counts.active);
    more =
        managed.error.ok() && (counts.active > wanted + kBurst || wanted > counts.active + kBurst);
    if (NamespaceGoes(managed.error)) managed.error = {};
    COX_ASSIGN_OR_RETURN(counts, CountsOf(*set));  // contains this controller's writes
  }
  Clock::Duration wait{};
  auto status = replicaset::StatusOf(*set, counts, managed, pods::PreciseNow(clock_));
  if (!DeepEqual(status, set->status)) {
    if (!replicaset::IsUrgent(*set, status)) wait = pacer_.WaitFor(key, set->metadata.generation);
    if (wait == Clock::Duration::zero()) {
      COX_RETURN_IF_ERROR(UpdateStatus(ctx, *set, std::move(status)));
    }
  }
  if (more) return ReconcileResult::After(std::chrono::milliseconds(1));
  // Also after an error: it is returned by the sync that writes the status, whose retry may be
  // late.
  if (wait > Clock::Duration::zero()) return ReconcileResult::After(wait);
  COX_RETURN_IF_ERROR(managed.error);
  return counts.next_available_in ? ReconcileResult::After(*counts.next_available_in)
                                  : ReconcileResult::Done();
}

Result<PodCounter::Counts> ReplicaSetReconciler::CountsOf(const ReplicaSet& set) {
  return counter_->CountsOf(OwnerOf(set), pods::PreciseNow(clock_));
}

Status ReplicaSetReconciler::UpdateStatus(Context& ctx, const ReplicaSet& set,
                                          apps::v1::ReplicaSetStatus status) {
  const size_t size = static_cast<size_t>(std::max({0, set.status.replicas, status.replicas}));
  ReplicaSet changed = set;
  changed.status = std::move(status);
  const Status written = client_.UpdateStatus(ctx, std::move(changed)).status();
  if (!written.ok() && !written.Is(Reason::kNotFound)) return written;
  pacer_.Settled(KeyOf(set), set.metadata.generation, size);
  return {};
}

Status ReplicaSetReconciler::ClaimPods(Context& ctx, const ReplicaSet& set) const {
  COX_ASSIGN_OR_RETURN(const auto selector,
                       labels::Selector::FromLabelSelector(set.spec.selector.get()));
  std::vector<PodPtr> candidates = pods::OwnedOrOrphaned(pods_, set);
  // Keeps only Pods to adopt or release; usually there are none.
  std::erase_if(candidates, [&](const PodPtr& pod) {
    const pods::Claim claim = pods::DecideClaim(pod->metadata, selector, set.metadata);
    return !pods::IsActive(*pod) || claim == pods::Claim::kMine || claim == pods::Claim::kIgnore;
  });
  if (candidates.empty()) return {};
  return pods::ClaimObjects(ctx, client_, set, selector, candidates).status();
}

Managed ReplicaSetReconciler::Manage(Context& ctx, const ReplicaSet& set, size_t active) {
  const auto wanted = static_cast<size_t>(std::max(0, set.spec.replicas.value_or(1)));
  if (active < wanted) {
    return {.creating = true, .error = CreatePods(ctx, set, std::min(kBurst, wanted - active))};
  }
  return {.error = DeletePods(ctx, set, PodsToDelete(set, std::min(kBurst, active - wanted)))};
}

std::vector<PodPtr> ReplicaSetReconciler::PodsToDelete(const ReplicaSet& set, size_t count) const {
  std::vector<PodPtr> active = pods_.Find(pods::ControlledBy(set.metadata));
  std::erase_if(active, [](const PodPtr& pod) { return !pods::IsActive(*pod); });
  if (set.spec.replicas.value_or(1) <= 0) {
    // All Pods will be deleted, so that the order does not matter.
    active.resize(std::min(active.size(), count));
    return active;
  }
  return pods::PodsToDelete(active, RelatedPods(set, active), count, pods::PreciseNow(clock_));
}

Status ReplicaSetReconciler::CreatePods(Context& ctx, const ReplicaSet& set, size_t count) {
  const Pod pod = pods::PodFromTemplate(set.spec.template_, ReplicaSet::kKind, set.metadata);
  return batches_
      .SlowStart(count,
                 [&](size_t) {
                   Context own = ctx;
                   const Result<Pod> created = client_.Create(own, pod);
                   if (created.ok()) {
                     const std::string& name = created->metadata.name;
                     events_.Record(set, EventKind::kNormal, "SuccessfulCreate",
                                    count > kSeparateEvents ? "Create" : "Create " + name,
                                    "Created pod: " + name);
                   } else if (!NamespaceGoes(created.status()) && !ctx.Done()) {
                     events_.Record(set, EventKind::kWarning, "FailedCreate", "Create",
                                    "Error creating: " + created.status().message());
                   }
                   return created.status();
                 })
      .error;
}

Status ReplicaSetReconciler::DeletePods(Context& ctx, const ReplicaSet& set,
                                        const std::vector<PodPtr>& chosen) {
  return batches_
      .SlowStart(chosen.size(),
                 [&](size_t i) {
                   Context own = ctx;
                   const std::string& name = chosen[i]->metadata.name;
                   const Status deleted = client_.Delete<Pod>(own, KeyOf(*chosen[i]),
                                                              {.uid = chosen[i]->metadata.uid});
                   if (deleted.ok()) {
                     events_.Record(set, EventKind::kNormal, "SuccessfulDelete",
                                    chosen.size() > kSeparateEvents ? "Delete" : "Delete " + name,
                                    "Deleted pod: " + name);
                   } else if (deleted.Is(Reason::kNotFound)) {
                     return Status();  // deleted by another client; the informer delivers the event
                   } else if (!ctx.Done()) {
                     events_.Record(set, EventKind::kWarning, "FailedDelete", "Delete",
                                    "Error deleting: " + deleted.message());
                   }
                   return deleted;
                 })
      .error;
}

std::vector<PodPtr> ReplicaSetReconciler::RelatedPods(const ReplicaSet& set,
                                                      const std::vector<PodPtr>& active) const {
  if (GetControllerOf(set.metadata) == nullptr) return active;
  std::vector<PodPtr> related;
  for (const auto& sibling : siblings_.Find(ByController<ReplicaSet>::Of(set))) {
    auto pods = pods_.Find(pods::ControlledBy(sibling->metadata));
    related.insert(related.end(), pods.begin(), pods.end());
  }
  return related;
}

}  // namespace

Status AddReplicaSetController(Manager& manager, const ReplicaSetOptions& options) {
  const auto counter =
      std::make_shared<PodCounter>(manager.cache().IndexOf<Pod, ByController<Pod>>());
  return ControllerFor<ReplicaSet>(manager)
      .Named(std::string(kName))
      .Watches<Pod>(pods::OwnersOf<ReplicaSet, Pod>(manager.cache().ListerOf<ReplicaSet>()),
                    Matters)
      // A resync lists the Pods again, so that it corrects a wrong count.
      .Filter([counter](const Delta& delta) {
        if (delta.type == Delta::Type::kResync && delta.after->As<ReplicaSet>() != nullptr) {
          counter->Forget(HeadOf(*delta.after).key);
        }
        return true;
      })
      // The status already includes the effect of the controller's own writes, so they cause no
      // requeue.
      .With({.max_concurrent_reconciles = options.concurrent_syncs, .ignore_own_writes = true})
      .Complete(std::make_unique<ReplicaSetReconciler>(manager, counter));
}

}  // namespace cox::controllers

// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/job_controller.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "controllers/shared/namespaces.h"
#include "controllers/shared/pods/batches.h"
#include "controllers/shared/pods/by_controller.h"
#include "controllers/shared/pods/claim.h"
#include "controllers/shared/pods/pacer.h"
#include "controllers/workload/job/decide.h"
#include "controllers/workload/job/metrics.h"
#include "controllers/workload/job/rules/outcome.h"
#include "coxswain/conditions.h"
#include "object/type/equal.h"

namespace cox::controllers {
namespace {

using batch::v1::Job;
using core::v1::Pod;
using pods::PodPtr;

// Returns the name of the Job that a Pod with the tracking finalizer belongs or belonged to, also
// if the Job was deleted or the Pod was orphaned.
ObjectKey TrackedBy(const Pod& pod) {
  if (!IsTracked(pod)) return {};
  if (GetControllerOf(pod.metadata) != nullptr) {
    return pods::ControllerKey(pod.metadata, Job::kKind);
  }
  const std::string* name = pod.metadata.labels.Get(kJobNameLabel);
  if (name == nullptr) name = pod.metadata.labels.Get("job-name");
  return name == nullptr ? ObjectKey() : ObjectKey{pod.metadata.namespace_, *name};
}

struct TrackedPods {
  static constexpr std::string_view kName = "tracked by job";
  static std::string Of(const Pod& pod) {
    const ObjectKey key = TrackedBy(pod);
    return key.name.empty() ? "" : key.ToString();
  }
};

class JobReconciler final : public Reconciler {
 public:
  explicit JobReconciler(Manager& manager)
      : client_(manager.client()),
        events_(manager.events()),
        clock_(manager.context().clock()),
        jobs_(manager.cache().ListerOf<Job>()),
        owned_(manager.cache().IndexOf<Pod, pods::ByController<Pod>>()),
        tracked_(manager.cache().IndexOf<Pod, TrackedPods>()),
        metrics_(manager.metrics()),
        pacer_(clock_),
        batches_(manager.context(), "job-controller") {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const auto job = jobs_.Get(key);
    // Before the Pods are listed, because each change of a Pod leads here.
    if (job != nullptr) {
      const Clock::Duration wait = pacer_.WaitFor(key, job->metadata.generation);
      if (wait > Clock::Duration()) return ReconcileResult::After(wait);
    }
    COX_RETURN_IF_ERROR(ReleaseStrays(ctx, key, job.get()));
    if (job == nullptr || IsManagedExternally(*job)) {
      pacer_.Forget(key);
      return ReconcileResult::Done();
    }
    const Clock::SteadyTime begun = clock_.Monotonic();
    SyncAction action = SyncAction::kReconciling;
    Result<ReconcileResult> done = Sync(ctx, key, *job, action);
    // Upstream counts no syncs of finished Jobs.
    if (!IsFinished(*job)) {
      metrics_.Synced(*job, done.ok(), action, clock_.Monotonic() - begun);
    }
    return done;
  }

 private:
  // Sets `action` when it is known.
  Result<ReconcileResult> Sync(Context& ctx, const ObjectKey& key, const Job& job,
                               SyncAction& action) {
    // A finished Job adopts no Pods.
    const std::vector<PodPtr> candidates = IsFinished(job)
                                               ? owned_.Find(pods::ControlledBy(job.metadata))
                                               : pods::OwnedOrOrphaned(owned_, job);
    COX_ASSIGN_OR_RETURN(const auto selector,
                         labels::Selector::FromLabelSelector(job.spec.selector.get()));
    COX_ASSIGN_OR_RETURN(
        const std::vector<PodPtr> pods,
        pods::ClaimObjects(ctx, client_, job, selector, candidates, kTrackingFinalizer));
    JobPlan plan = Decide(job, pods, pods::PreciseNow(clock_));
    const std::optional<Clock::Duration> requeue_after = plan.requeue_after;
    action = ActionOf(plan);
    const bool more = plan.create.size() == kMaxPodsPerSync;
    const size_t size = candidates.size() + plan.create.size();
    COX_RETURN_IF_ERROR(CarryOut(ctx, job, std::move(plan)));
    if (more) {
      pacer_.Forget(key);
    } else {
      pacer_.Settled(key, job.metadata.generation, size);
    }
    return requeue_after.has_value() ? ReconcileResult::After(*requeue_after)
                                     : ReconcileResult::Done();
  }

  static SyncAction ActionOf(const JobPlan& plan) {
    if (!plan.create.empty()) return SyncAction::kPodsCreated;
    return plan.remove.empty() ? SyncAction::kTracking : SyncAction::kPodsDeleted;
  }

  static bool IsManagedExternally(const Job& job) {
    return job.spec.managedBy.has_value() && *job.spec.managedBy != "kubernetes.io/job-controller";
  }

  // Removes the finalizers of Pods that will never be counted: their Job was deleted or recreated,
  // or it is being deleted and no longer claims them. The cache may lack a Job that exists or
  // contain its predecessor of the same name, so the Job is read from the API server first. When
  // the cache receives that Job, its own event requeues the key.
  Status ReleaseStrays(Context& ctx, const ObjectKey& key, const Job* cached) {
    COX_ASSIGN_OR_RETURN(const bool any, HasStrays(key, cached));
    if (!any) return {};
    std::vector<PodPtr> strays = tracked_.Find(key.ToString());
    COX_RETURN_IF_ERROR(EraseClaimed(cached, strays));
    if (strays.empty()) return {};
    const Result<Job> live = client_.Get<Job>(ctx, key);
    if (!live.ok() && !live.status().Is(Reason::kNotFound)) return live.status();
    COX_RETURN_IF_ERROR(EraseClaimed(live.ok() ? &*live : nullptr, strays));
    return Release(ctx, strays);
  }

  // Returns whether EraseClaimed would leave a tracked Pod. Copies no Pods: usually there is none.
  Result<bool> HasStrays(const ObjectKey& key, const Job* job) const {
    labels::Selector selector;
    if (job != nullptr) {
      COX_ASSIGN_OR_RETURN(selector, labels::Selector::FromLabelSelector(job->spec.selector.get()));
    }
    bool any = false;
    tracked_.Visit(key.ToString(), [&](const Pod& pod) {
      any = job == nullptr || !IsClaimed(*job, selector, pod);
      return !any;
    });
    return any;
  }

  static bool IsClaimed(const Job& job, const labels::Selector& selector, const Pod& pod) {
    const pods::Claim claim = pods::DecideClaim(pod.metadata, selector, job.metadata);
    if (claim == pods::Claim::kAdopt) return !IsFinished(job);
    return claim != pods::Claim::kIgnore;
  }

  // Erases the Pods that the Job controls or adopts; null: the Job does not exist.
  static Status EraseClaimed(const Job* job, std::vector<PodPtr>& pods) {
    if (job == nullptr || pods.empty()) return {};
    COX_ASSIGN_OR_RETURN(const auto selector,
                         labels::Selector::FromLabelSelector(job->spec.selector.get()));
    std::erase_if(pods, [&](const PodPtr& pod) { return IsClaimed(*job, selector, *pod); });
    return {};
  }

  Status CarryOut(Context& ctx, const Job& job, JobPlan plan) {
    Status failed;
    if (plan.remove_uncounted) COX_RETURN_IF_ERROR(Release(ctx, plan.remove));
    const auto deleted = static_cast<int32_t>(Delete(ctx, job, plan.remove, failed));
    const auto undeleted = static_cast<int32_t>(plan.remove.size()) - deleted;
    plan.status.active += undeleted;
    plan.status.terminating = plan.status.terminating.value_or(0) - undeleted;
    if (failed.ok()) {
      const auto created = static_cast<int32_t>(Create(ctx, job, plan.create, failed));
      plan.status.active -= static_cast<int32_t>(plan.create.size()) - created;
    } else {
      plan.status.active -= static_cast<int32_t>(plan.create.size());
    }
    // Also after a failure, because terminated Pods must be counted in any case.
    COX_RETURN_IF_ERROR(Store(ctx, job, plan));
    const int ignored = std::exchange(plan.policy_actions[FailureResult::Action::kIgnore], 0);
    for (const auto& [action, pods] : plan.policy_actions) {
      if (pods > 0) metrics_.HandledByPolicy(action, pods);
    }
    COX_RETURN_IF_ERROR(Release(ctx, plan.release));
    if (ignored > 0) metrics_.HandledByPolicy(FailureResult::Action::kIgnore, ignored);
    return failed;
  }

  Status Store(Context& ctx, const Job& job, JobPlan& plan) {
    if (DeepEqual(job.status, plan.status)) return {};
    Job changed = job;
    changed.status = std::move(plan.status);
    COX_ASSIGN_OR_RETURN(const Job stored, client_.UpdateStatus(ctx, std::move(changed)));
    metrics_.Stored(job, stored);
    for (const JobPlan::Event& event : plan.events) {
      events_.Record(job, event.warning ? EventKind::kWarning : EventKind::kNormal, event.reason,
                     "Updating", event.message);
    }
    return {};
  }

  Status Release(Context& ctx, const std::vector<PodPtr>& pods) {
    const auto outcome = batches_.SlowStart(pods.size(), [&](size_t i) -> Status {
      if (!IsTracked(*pods[i])) return {};
      const std::string patch = R"({"metadata":{"uid":")" + pods[i]->metadata.uid +
                                R"(","$deleteFromPrimitiveList/finalizers":[")" +
                                std::string(kTrackingFinalizer) + R"("]}})";
      const Status status =
          client_.PatchObject<Pod>(ctx, KeyOf(*pods[i]), Patch::Strategic(patch)).status();
      // Deleted, or replaced by another Pod with the same name.
      return status.Is(Reason::kNotFound) || status.Is(Reason::kConflict) ? Status() : status;
    });
    return outcome.error;
  }

  // Returns how many of the Pods are deleted or being deleted.
  size_t Delete(Context& ctx, const Job& job, const std::vector<PodPtr>& pods, Status& failed) {
    const auto outcome = batches_.SlowStart(pods.size(), [&](size_t i) -> Status {
      const Status status =
          client_.Delete<Pod>(ctx, KeyOf(*pods[i]), {.uid = pods[i]->metadata.uid});
      if (status.Is(Reason::kNotFound) || status.Is(Reason::kConflict)) return {};
      if (status.ok()) {
        events_.Record(job, EventKind::kNormal, "SuccessfulDelete", "Deleting",
                       "Deleted pod: " + pods[i]->metadata.name);
      } else {
        events_.Record(job, EventKind::kWarning, "FailedDelete", "Deleting",
                       "Error deleting: " + status.message());
      }
      return status;
    });
    if (failed.ok()) failed = outcome.error;
    return outcome.succeeded;
  }

  size_t Create(Context& ctx, const Job& job, const std::vector<NewPod>& wanted, Status& failed) {
    std::atomic<size_t> created = 0;
    const auto outcome = batches_.SlowStart(wanted.size(), [&](size_t i) -> Status {
      const Result<Pod> pod = client_.Create(ctx, MakeJobPod(job, wanted[i]));
      if (pod.ok()) {
        ++created;
        events_.Record(job, EventKind::kNormal, "SuccessfulCreate", "Creating",
                       "Created pod: " + pod->metadata.name);
        return {};
      }
      const Status status = IgnoreNamespaceTerminating(pod.status());
      if (!status.ok()) {
        events_.Record(job, EventKind::kWarning, "FailedCreate", "Creating",
                       "Error creating: " + status.message());
      }
      return status;
    });
    if (failed.ok()) failed = outcome.error;
    return created;
  }

  Client& client_;
  EventRecorder& events_;
  Clock& clock_;
  const Lister<Job> jobs_;
  const Index<Pod, pods::ByController<Pod>> owned_;
  const Index<Pod, TrackedPods> tracked_;
  JobMetrics metrics_;
  pods::Pacer pacer_;
  pods::Batches batches_;
};

}  // namespace

Status AddJobController(Manager& manager, const JobOptions& options) {
  const auto owners = pods::OwnersOf<Job, Pod>(manager.cache().ListerOf<Job>());
  return ControllerFor<Job>(manager)
      .Named("job-controller")
      .With({.max_concurrent_reconciles = options.concurrent_syncs})
      .Watches<Pod>([owners](const Pod& pod) {
        std::vector<ObjectKey> keys = owners(pod);
        if (ObjectKey key = TrackedBy(pod); keys.empty() && !key.name.empty()) {
          keys.push_back(std::move(key));
        }
        return keys;
      })
      .From(CountTrackedPods(manager.metrics(), manager.cache().InformerOf<Pod>()))
      .Complete(std::make_unique<JobReconciler>(manager));
}

}  // namespace cox::controllers

// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "coxswain/conditions.h"
#include "scheduler/failure.h"
#include "scheduler/scheduler.h"

namespace cox::scheduler {

using Outcome = ProfileMetrics::Outcome;

namespace {

// Attempts to patch the condition, because other clients write the Pod too.
constexpr int kPatchAttempts = 5;

}  // namespace

void Scheduler::ScheduleOne(Context& ctx, const QueuedPodPtr& pod) {
  const core::v1::Pod& object = *pod->pod->pod;
  const auto profile = profiles_.find(object.spec.schedulerName);
  if (profile == profiles_.end() || object.metadata.deletionTimestamp) {
    queue_.Done(pod->pod->uid());
    return;
  }
  auto attempt = std::make_shared<Attempt>();
  attempt->pod = pod;
  attempt->profile = profile->second.get();
  attempt->begun = clock_.Monotonic();

  cache_.UpdateSnapshot(snapshot_);
  Decision decision = cycle_.Decide(ctx, *attempt->profile, *pod->pod, snapshot_);
  metrics_.algorithm().Observe(Seconds(clock_.Monotonic() - attempt->begun));
  if (!decision.ok()) {
    Fail(ctx, *attempt, decision);
    return;
  }
  attempt->node = std::move(decision.node);
  if (!cache_.Assume(*pod->pod, attempt->node)) {
    queue_.Done(pod->pod->uid());  // it has a node already: the informer event came first
    return;
  }
  std::vector<WaitingPods::Wait> waits;
  const PluginStatus plugin_status = Reserve(*attempt, waits);
  if (plugin_status.code() == Code::kWait) {
    waiting_->Add(
        pod->pod, std::move(waits),
        [this, ctx, attempt, since = clock_.Monotonic()](const PluginStatus& said) mutable {
          metrics_.PermitWaited(said.code(), clock_.Monotonic() - since);
          Submit([this, ctx, attempt, said]() mutable {
            if (said.ok()) Bind(ctx, *attempt);
            if (!said.ok()) Reject(ctx, *attempt, said);
          });
        });
    return;
  }
  if (!plugin_status.ok()) {
    Undo(*attempt);
    decision.status = plugin_status;
    decision.diagnosis = {};
    if (plugin_status.rejected()) decision.diagnosis.Blame(plugin_status);
    Fail(ctx, *attempt, decision);
    return;
  }
  Submit([this, ctx, attempt]() mutable { Bind(ctx, *attempt); });
}

// Runs the Reserve and Permit plugins. If the code is kWait, `waits` contains the plugins that the
// Pod must wait for.
PluginStatus Scheduler::Reserve(Attempt& attempt, std::vector<WaitingPods::Wait>& waits) {
  ProfileMetrics& metrics = metrics_.Of(*attempt.profile);
  const PodInfo& pod = *attempt.pod->pod;
  Clock::SteadyTime since = clock_.Monotonic();
  PluginStatus plugin_status = attempt.profile->RunReserve(attempt.state, pod, attempt.node);
  metrics.Observe(Point::kReserve, plugin_status.code(), clock_.Monotonic() - since);
  if (!plugin_status.ok()) return plugin_status;
  since = clock_.Monotonic();
  plugin_status = attempt.profile->RunPermit(attempt.state, pod, attempt.node, waits);
  metrics.Observe(Point::kPermit, plugin_status.code(), clock_.Monotonic() - since);
  return plugin_status;
}

void Scheduler::Bind(Context& ctx, Attempt& attempt) {
  metrics_.bindings().Inc();
  const PluginStatus plugin_status = TryBind(ctx, attempt);
  metrics_.bindings().Dec();
  const QueuedPod& pod = *attempt.pod;
  if (!plugin_status.ok()) {
    Reject(ctx, attempt, plugin_status);
    return;
  }
  const Clock::SteadyTime now = clock_.Monotonic();
  metrics_.Of(*attempt.profile).CountAttempt(Outcome::kScheduled, now - attempt.begun);
  metrics_.CountScheduled(pod.attempts, now - *pod.first_attempt);
  cache_.FinishBinding(pod.pod->uid());
  queue_.Done(pod.pod->uid());
  attempt.profile->RunPostBind(ctx, *pod.pod, attempt.node);
  Record(attempt, EventKind::kNormal, "Scheduled", "Binding",
         "Successfully assigned " + KeyOf(*pod.pod->pod).ToString() + " to " + attempt.node);
  COX_V(ctx.log(), 3, "Bound pod", {"pod", KeyOf(*pod.pod->pod).ToString()},
        {"node", attempt.node});
}

// Handles a failure after the Pod was assumed.
void Scheduler::Reject(Context& ctx, Attempt& attempt, const PluginStatus& plugin_status) {
  Undo(attempt);
  // Its resources are free again, so other Pods may fit now.
  queue_.OnEvent({.bits = kAssignedPodDelete, .old_pod = attempt.pod->pod});
  Decision decision;
  decision.status = plugin_status;
  if (plugin_status.rejected()) decision.diagnosis.Blame(plugin_status);
  Fail(ctx, attempt, decision);
}

PluginStatus Scheduler::TryBind(Context& ctx, Attempt& attempt) {
  ProfileMetrics& metrics = metrics_.Of(*attempt.profile);
  const PodInfo& pod = *attempt.pod->pod;
  Clock::SteadyTime since = clock_.Monotonic();
  PluginStatus plugin_status = attempt.profile->RunPreBind(ctx, attempt.state, pod, attempt.node);
  metrics.Observe(Point::kPreBind, plugin_status.code(), clock_.Monotonic() - since);
  if (!plugin_status.ok()) return plugin_status;
  since = clock_.Monotonic();
  plugin_status = attempt.profile->RunBind(ctx, pod, attempt.node);
  metrics.Observe(Point::kBind, plugin_status.code(), clock_.Monotonic() - since);
  return plugin_status;
}

void Scheduler::Undo(Attempt& attempt) {
  attempt.profile->RunUnreserve(attempt.state, *attempt.pod->pod, attempt.node);
  cache_.Forget(attempt.pod->pod->uid());
}

void Scheduler::Fail(Context& ctx, const Attempt& attempt, const Decision& decision) {
  const QueuedPodPtr& pod = attempt.pod;
  const bool rejected = decision.status.rejected();
  metrics_.Of(*attempt.profile)
      .CountAttempt(rejected ? Outcome::kUnschedulable : Outcome::kError,
                    clock_.Monotonic() - attempt.begun);
  const ObjectKey key = KeyOf(*pod->pod->pod);
  const std::shared_ptr<const core::v1::Pod> now = pod_lister_.Get(key);
  if (now == nullptr || now->metadata.uid != pod->pod->uid() || !now->spec.nodeName.empty()) {
    queue_.Done(pod->pod->uid());  // the Pod needs no further scheduling
    return;
  }
  pod->unschedulable_plugins = decision.diagnosis.unschedulable_plugins;
  pod->pending_plugins = decision.diagnosis.pending_plugins;
  const std::string why = decision.Why();
  if (rejected) {
    COX_V(ctx.log(), 2, "Unable to schedule pod; no fit", {"pod", key.ToString()}, {"why", why});
  } else {
    COX_ERROR(ctx.log(), Status::Internal(why), "Error scheduling pod; retrying",
              {"pod", key.ToString()});
  }
  Record(attempt, EventKind::kWarning, "FailedScheduling", "Scheduling", why);
  queue_.AddUnschedulable(pod);  // from here on the queue owns and modifies it
  const core::v1::PodCondition condition =
      NotScheduled(*now, decision.status, why, TimeNow(clock_));
  if (!StatusPatch(*now, condition, decision.nominated_node)) return;
  Submit([this, ctx, now, condition, nominated = decision.nominated_node]() mutable {
    PatchPodCondition(ctx, *now, condition, nominated);
  });
}

// A later attempt may bind the Pod before this patch is written. Each patch applies to one resource
// version, so that a bound Pod is never marked as unscheduled.
void Scheduler::PatchPodCondition(Context& ctx, core::v1::Pod pod,
                                  const core::v1::PodCondition& condition,
                                  const std::string& nominated) {
  const ObjectKey key = KeyOf(pod);
  const std::string uid = pod.metadata.uid;
  Status status;
  for (int i = 0; i < kPatchAttempts; ++i) {
    const std::optional<Patch> patch = StatusPatch(pod, condition, nominated);
    if (!patch) return;
    status = client_.PatchStatus<core::v1::Pod>(ctx, key, *patch).status();
    if (status.ok() || status.Is(Reason::kNotFound) || ctx.Done()) return;
    if (!status.Is(Reason::kConflict)) break;
    Result<core::v1::Pod> newer = client_.Get<core::v1::Pod>(ctx, key);
    if (!newer.ok() || newer->metadata.uid != uid || !newer->spec.nodeName.empty()) return;
    pod = *std::move(newer);
  }
  COX_ERROR(ctx.log(), status, "Could not update the condition of the pod",
            {"pod", key.ToString()});
}

// Work is never lost: if the writers are saturated, it is done on the calling thread, which also
// limits the scheduling rate to the write rate.
void Scheduler::Submit(std::function<void()> work) {
  if (!writers_->Submit(std::move(work))) work();  // NOLINT: not moved from if Submit returns false
}

void Scheduler::Record(const Attempt& attempt, EventKind kind, std::string_view reason,
                       std::string_view action, const std::string& note) {
  const auto& recorders = events_.at(attempt.profile->name());
  const size_t which = std::hash<std::string>()(attempt.pod->pod->uid()) % recorders.size();
  recorders[which]->Record(*attempt.pod->pod->pod, kind, reason, action, CutNote(note));
}

}  // namespace cox::scheduler

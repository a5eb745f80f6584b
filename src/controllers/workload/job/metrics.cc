// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/metrics.h"

#include <string>
#include <utility>

#include "base/await_stop.h"
#include "controllers/workload/job/pods/job_pod.h"
#include "controllers/workload/job/rules/outcome.h"
#include "object/core/pod_state.h"

namespace cox::controllers {
namespace {

using batch::v1::Job;
using core::v1::Pod;

constexpr std::string_view kSyncActions[] = {"reconciling", "tracking", "pods_created",
                                             "pods_deleted"};

std::string ModeOf(const Job& job) { return job.spec.completionMode.value_or("NonIndexed"); }

MetricOptions Named(std::string_view name, std::string help, Stability stability) {
  return {.name = "job_controller_" + std::string(name),
          .help = std::move(help),
          .stability = stability};
}

bool IsTerminatedAndTracked(const Pod* pod) {
  return pod != nullptr && core_rules::IsTerminal(*pod) && IsTracked(*pod);
}

}  // namespace

JobMetrics::JobMetrics(MetricsRegistry& registry)
    : jobs_(registry.AddCounterVec(
          Named("jobs_finished_total", "Jobs that have finished.", Stability::kStable),
          {"completion_mode", "result", "reason"})),
      pods_(registry.AddCounterVec(
          Named("job_pods_finished_total", "Pods of Jobs that have finished, once counted.",
                Stability::kStable),
          {"completion_mode", "result"})),
      syncs_(registry.AddCounterVec(
          Named("job_syncs_total", "Syncs of Jobs that are not finished, by what they did.",
                Stability::kStable),
          {"completion_mode", "result", "action"})),
      durations_(registry.AddHistogramVec(
          Named("job_sync_duration_seconds", "Seconds that syncs of Jobs took.",
                Stability::kStable),
          ExponentialBuckets(0.004, 2, 15), {"completion_mode", "result", "action"})),
      policy_actions_(registry.AddCounterVec(
          Named("pod_failures_handled_by_failure_policy_total",
                "Failed Pods that matched a rule of the failure policy, by its action.",
                Stability::kBeta),
          {"action"})) {}

void JobMetrics::Synced(const Job& job, bool ok, SyncAction action, Clock::Duration took) {
  const std::string mode = ModeOf(job);
  const std::string_view result = ok ? "success" : "error";
  const std::string_view done = kSyncActions[static_cast<size_t>(action)];
  const size_t number = (mode == batch::v1::kIndexedCompletion ? 8u : 0u) + (ok ? 4u : 0u) +
                        static_cast<size_t>(action);
  syncs_.Of(number, {mode, result, done}).Inc();
  durations_.Of(number, {mode, result, done}).Observe(std::chrono::duration<double>(took).count());
}

void JobMetrics::Stored(const Job& before, const Job& after) {
  const std::string mode = ModeOf(after);
  const auto add = [&](const char* result, int32_t by) {
    if (by > 0) pods_.With({mode, result}).Inc(static_cast<uint64_t>(by));
  };
  add("succeeded", after.status.succeeded - before.status.succeeded);
  add("failed", after.status.failed - before.status.failed);
  if (IsFinished(before) || !IsFinished(after)) return;
  const std::optional<Outcome> outcome = DecidedOutcome(after);
  if (!outcome.has_value()) return;
  // Upstream reports no reason for reached completions.
  const bool plain = outcome->success && outcome->reason == "CompletionsReached";
  jobs_.With({mode, outcome->success ? "succeeded" : "failed", plain ? "" : outcome->reason}).Inc();
}

void JobMetrics::HandledByPolicy(FailureResult::Action action, int pods) {
  static constexpr std::string_view kNames[kActions] = {
      batch::v1::kPodFailurePolicyActionCount, batch::v1::kPodFailurePolicyActionIgnore,
      batch::v1::kPodFailurePolicyActionFailIndex, batch::v1::kPodFailurePolicyActionFailJob};
  const auto number = static_cast<size_t>(action);
  policy_actions_.Of(number, {kNames[number]}).Inc(static_cast<uint64_t>(pods));
}

TrackedTransitions TransitionsBetween(const Pod* before, const Pod* after) {
  const bool was = IsTerminatedAndTracked(before);
  const bool is = IsTerminatedAndTracked(after);
  if (was && !is) return {.deleted = 1};
  if (!was && is) return {.added = 1};
  const bool both = before != nullptr && after != nullptr && IsTracked(*before) &&
                    !core_rules::IsTerminal(*before) && core_rules::IsTerminal(*after) &&
                    !IsTracked(*after);
  return both ? TrackedTransitions{1, 1} : TrackedTransitions();
}

Source CountTrackedPods(MetricsRegistry& registry, const Informer<Pod>& pods) {
  CounterVec& events = registry.AddCounterVec(
      Named("terminated_pods_tracking_finalizer_total",
            "Terminated Pods that have (add) or no longer have (delete) the finalizer by which "
            "their Job counts them.",
            Stability::kBeta),
      {"event"});
  return [pods, &events](Context& ctx, WorkQueue&) {
    struct Counted {
      Counter& added;
      Counter& deleted;
      bool begun = false;  // accessed under the informer's lock
    };
    const auto counted = std::make_shared<Counted>(
        Counted{.added = events.With({"add"}), .deleted = events.With({"delete"})});
    const auto count = [counted](const Object* before, const Object* after) {
      if (!counted->begun) return;
      const TrackedTransitions made =
          TransitionsBetween(before == nullptr ? nullptr : before->As<Pod>(),
                             after == nullptr ? nullptr : after->As<Pod>());
      if (made.added > 0) counted->added.Inc();
      if (made.deleted > 0) counted->deleted.Inc();
    };
    const InformerHandle handle = pods.shared().AddObserver(count);
    pods.shared().BetweenChanges([&] {
      counted->begun = true;
      pods.shared().ForEach("", [&count](const ObjectPtr& pod) {
        count(nullptr, pod.get());
        return true;
      });
    });
    (void)AwaitStop(ctx);
    return Status();
  };
}

}  // namespace cox::controllers

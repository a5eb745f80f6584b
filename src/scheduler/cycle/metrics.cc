// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cycle/metrics.h"

#include <algorithm>

namespace cox::scheduler {
namespace {

std::string_view PointName(Point point) {
  static constexpr std::string_view kNames[kPoints] = {
      "PreFilter", "Filter", "PostFilter", "PreScore", "Score",   "Reserve",
      "Unreserve", "Permit", "PreBind",    "Bind",     "PostBind"};
  return kNames[static_cast<size_t>(point)];
}

constexpr std::string_view kOutcomes[] = {"scheduled", "unschedulable", "error"};

std::vector<double> AttemptBuckets() { return ExponentialBuckets(0.001, 2, 15); }

}  // namespace

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

ProfileMetrics::ProfileMetrics(const Profile& profile, HistogramVec& points,
                               CounterVec& evaluations, CounterVec& attempts,
                               HistogramVec& durations)
    : profile_(profile.name()), points_(points) {
  const auto add = [&](std::vector<Counter*>& to, const Plugin& plugin, Point point) {
    to.push_back(&evaluations.With({PointName(point), plugin.name(), profile_}));
  };
  for (const auto* plugin : profile.pre_filters()) add(pre_filters_, *plugin, Point::kPreFilter);
  for (const auto* plugin : profile.filters()) add(filters_, *plugin, Point::kFilter);
  for (const auto* plugin : profile.pre_scorers()) add(pre_scorers_, *plugin, Point::kPreScore);
  for (const auto& scorer : profile.scorers()) add(scorers_, *scorer.plugin, Point::kScore);
  for (size_t i = 0; i < std::size(kOutcomes); ++i) {
    attempts_[i] = &attempts.With({profile_, kOutcomes[i]});
    durations_[i] = &durations.With({profile_, kOutcomes[i]});
  }
}

void ProfileMetrics::Observe(Point point, Code code, Clock::Duration took) {
  auto& found = found_[static_cast<size_t>(point)][static_cast<size_t>(code)];
  Histogram* histogram = found.load(std::memory_order_acquire);
  if (histogram == nullptr) {
    histogram = &points_.With({PointName(point), profile_, CodeName(code)});
    found.store(histogram, std::memory_order_release);
  }
  histogram->Observe(Seconds(took));
}

void ProfileMetrics::CountFilters(const std::vector<bool>& skip) {
  for (Counter* counter : pre_filters_) counter->Inc();
  for (size_t i = 0; i < filters_.size(); ++i) {
    if (!skip[i]) filters_[i]->Inc();
  }
}

void ProfileMetrics::CountScorers(const std::vector<bool>& skip) {
  for (Counter* counter : pre_scorers_) counter->Inc();
  for (size_t i = 0; i < scorers_.size(); ++i) {
    if (!skip[i]) scorers_[i]->Inc();
  }
}

void ProfileMetrics::CountAttempt(Outcome outcome, Clock::Duration took) {
  attempts_[static_cast<size_t>(outcome)]->Inc();
  durations_[static_cast<size_t>(outcome)]->Observe(Seconds(took));
}

Metrics::Metrics(MetricsRegistry& registry)
    : attempts_(registry.AddCounterVec(
          {.name = "scheduler_schedule_attempts_total",
           .help = "Number of attempts to schedule pods, by the result. 'unschedulable' means a "
                   "pod could not be scheduled, while 'error' means an internal scheduler problem.",
           .stability = Stability::kStable},
          {"profile", "result"})),
      durations_(registry.AddHistogramVec(
          {.name = "scheduler_scheduling_attempt_duration_seconds",
           .help = "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
           .stability = Stability::kStable},
          AttemptBuckets(), {"profile", "result"})),
      points_(registry.AddHistogramVec(
          {.name = "scheduler_framework_extension_point_duration_seconds",
           .help = "Latency for running all plugins of a specific extension point.",
           .stability = Stability::kStable},
          ExponentialBuckets(0.0001, 2, 12), {"extension_point", "profile", "status"})),
      evaluations_(registry.AddCounterVec(
          {.name = "scheduler_plugin_evaluation_total",
           .help = "Number of attempts to schedule pods by each plugin and the extension point "
                   "(available only in PreFilter, Filter, PreScore, and Score).",
           .stability = Stability::kBeta},
          {"extension_point", "plugin", "profile"})),
      incoming_(registry.AddCounterVec(
          {.name = "scheduler_queue_incoming_pods_total",
           .help = "Number of pods added to scheduling queues by event and queue type.",
           .stability = Stability::kStable},
          {"event", "queue"})),
      sli_(registry.AddHistogramVec(
          {.name = "scheduler_pod_scheduling_sli_duration_seconds",
           .help = "E2e latency for a pod being scheduled, from the time the pod enters the "
                   "scheduling queue and might involve multiple scheduling attempts.",
           .stability = Stability::kBeta},
          ExponentialBuckets(0.01, 2, 20), {"attempts"})),
      pod_attempts_(
          registry.AddHistogram({.name = "scheduler_pod_scheduling_attempts",
                                 .help = "Number of attempts to successfully schedule a pod.",
                                 .stability = Stability::kStable},
                                ExponentialBuckets(1, 2, 5))),
      algorithm_(registry.AddHistogram({.name = "scheduler_scheduling_algorithm_duration_seconds",
                                        .help = "Scheduling algorithm latency in seconds",
                                        .stability = Stability::kAlpha},
                                       AttemptBuckets())),
      permit_waits_(registry.AddHistogramVec({.name = "scheduler_permit_wait_duration_seconds",
                                              .help = "Duration of waiting on permit.",
                                              .stability = Stability::kBeta},
                                             AttemptBuckets(), {"result"})),
      bindings_(
          registry
              .AddGaugeVec({.name = "scheduler_goroutines",
                            .help = "Number of running goroutines split by the work they do such "
                                    "as binding.",
                            .stability = Stability::kBeta},
                           {"operation"})
              .With({"binding"})) {}

ProfileMetrics& Metrics::Of(const Profile& profile) {
  MutexLock lock(mu_);
  std::unique_ptr<ProfileMetrics>& found = profiles_[profile.name()];
  if (found == nullptr) {
    found = std::make_unique<ProfileMetrics>(profile, points_, evaluations_, attempts_, durations_);
  }
  return *found;
}

void Metrics::PermitWaited(Code code, Clock::Duration took) {
  permit_waits_.With({CodeName(code)}).Observe(Seconds(took));
}

void Metrics::CountScheduled(int attempts, Clock::Duration since_first) {
  pod_attempts_.Observe(attempts);
  const std::string label = attempts >= 15 ? "15+" : std::to_string(attempts);
  sli_.With({label}).Observe(Seconds(since_first));
}

}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/fairness_metrics.h"

#include <string>
#include <utility>

namespace cox::apiserver {
namespace {

MetricOptions Named(std::string_view name, std::string_view help,
                    Stability stability = Stability::kAlpha) {
  return {"apiserver_flowcontrol_" + std::string(name), std::string(help), stability};
}

const std::vector<std::string>& ByFlow() {
  static const std::vector<std::string> labels = {"priority_level", "flow_schema"};
  return labels;
}

std::vector<std::string> ByFlowAnd(std::string another) {
  std::vector<std::string> labels = ByFlow();
  labels.push_back(std::move(another));
  return labels;
}

struct LevelGauge {
  std::string_view name, help;
  Stability stability;
  double LevelSample::*value;
};
constexpr LevelGauge kLevelGauges[] = {
    {"nominal_limit_seats", "Nominal number of execution seats configured for each priority level",
     Stability::kBeta, &LevelSample::nominal},
    {"lower_limit_seats",
     "Configured lower bound on number of execution seats available to each "
     "priority level",
     Stability::kAlpha, &LevelSample::lower},
    {"upper_limit_seats",
     "Configured upper bound on number of execution seats available to each "
     "priority level",
     Stability::kAlpha, &LevelSample::upper},
    {"current_limit_seats", "Current number of execution seats available to each priority level",
     Stability::kAlpha, &LevelSample::current},
    {"demand_seats_high_watermark", "High watermark, over last adjustment period, of demand_seats",
     Stability::kAlpha, &LevelSample::demand_high},
    {"demand_seats_average", "Time-weighted average, over last adjustment period, of demand_seats",
     Stability::kAlpha, &LevelSample::demand_average},
    {"demand_seats_stdev",
     "Time-weighted standard deviation, over last adjustment period, of "
     "demand_seats",
     Stability::kAlpha, &LevelSample::demand_deviation},
    {"demand_seats_smoothed", "Smoothed seat demands", Stability::kAlpha,
     &LevelSample::demand_smoothed},
    {"target_seats", "Seat allocation targets", Stability::kAlpha, &LevelSample::target},
    {"current_r", "Virtual time of the queues, in seat seconds per queue", Stability::kAlpha,
     &LevelSample::virtual_time},
};

}  // namespace

FairnessMetrics::FairnessMetrics(MetricsRegistry& registry, ReadLevels levels)
    : levels_(std::move(levels)),
      dispatched_(registry.AddCounterVec(
          Named("dispatched_requests_total",
                "Number of requests executed by API Priority and Fairness subsystem",
                Stability::kBeta),
          ByFlow())),
      refused_(registry.AddCounterVec(
          Named("rejected_requests_total",
                "Number of requests rejected by API Priority and Fairness subsystem",
                Stability::kBeta),
          ByFlowAnd("reason"))),
      waiting_(registry.AddGaugeVec(
          Named("current_inqueue_requests",
                "Number of requests currently pending in queues of the API Priority and Fairness "
                "subsystem",
                Stability::kBeta),
          ByFlow())),
      waiting_seats_(registry.AddGaugeVec(
          Named("current_inqueue_seats",
                "Number of seats currently pending in queues of the API Priority and Fairness "
                "subsystem"),
          ByFlow())),
      executing_(registry.AddGaugeVec(
          Named("current_executing_requests",
                "Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution "
                "stage in the API Priority and Fairness subsystem",
                Stability::kBeta),
          ByFlow())),
      executing_seats_(registry.AddGaugeVec(
          Named("current_executing_seats",
                "Concurrency (number of seats) occupied by the currently executing (initial stage "
                "for a WATCH, any stage otherwise) requests in the API Priority and Fairness "
                "subsystem",
                Stability::kBeta),
          ByFlow())),
      waited_(registry.AddHistogramVec(
          Named("request_wait_duration_seconds",
                "Length of time a request spent waiting in its queue", Stability::kBeta),
          {0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30}, ByFlowAnd("execute"))),
      queue_length_(registry.AddHistogramVec(
          Named("request_queue_length_after_enqueue",
                "Length of queue in the API Priority and Fairness subsystem, as seen by each "
                "request after it is enqueued"),
          {0, 10, 25, 50, 100, 250, 500, 1000}, ByFlow())),
      took_(registry.AddHistogramVec(
          Named("request_execution_seconds",
                "Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request "
                "execution in the API Priority and Fairness subsystem"),
          {0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30}, ByFlowAnd("type"))),
      seats_(registry.AddHistogramVec(
          Named("work_estimated_seats",
                "Number of estimated seats (maximum of initial and final seats) associated with "
                "requests in API Priority and Fairness"),
          {1, 2, 4, 10, 20, 50, 100}, ByFlow())),
      watchers_(registry.AddHistogram(
          Named("watch_count_samples",
                "count of watchers for mutating requests in API Priority and Fairness"),
          {0, 1, 10, 100, 1000, 10000})),
      fair_fraction_(registry.AddGauge(
          Named("seat_fair_frac",
                "Fair fraction of server's concurrency to allocate to each priority "
                "level that can use it"))) {
  AddLevelGauges(registry);
}

void FairnessMetrics::AddLevelGauges(MetricsRegistry& registry) {
  for (const LevelGauge& gauge : kLevelGauges) {
    callbacks_.push_back(registry.AddGaugeCallback(
        Named(gauge.name, gauge.help, gauge.stability), {"priority_level"},
        [this, value = gauge.value](const EmitSample& emit) {
          levels_([&](const LevelSample& level) { emit({level.name}, level.*value); });
        }));
  }
}

FlowSeries FairnessMetrics::Of(std::string_view level, std::string_view schema) {
  FlowSeries series{};
  series.dispatched = &dispatched_.With({level, schema});
  for (size_t i = 0; i < kRejectReasonNames.size(); ++i) {
    series.refused[i] = &refused_.With({level, schema, kRejectReasonNames[i]});
  }
  series.waiting = &waiting_.With({level, schema});
  series.waiting_seats = &waiting_seats_.With({level, schema});
  series.executing = &executing_.With({level, schema});
  series.executing_seats = &executing_seats_.With({level, schema});
  series.waited = &waited_.With({level, schema, "true"});
  series.wait_rejected = &waited_.With({level, schema, "false"});
  series.queue_length = &queue_length_.With({level, schema});
  series.took = &took_.With({level, schema, "regular"});
  series.took_watch = &took_.With({level, schema, "watch"});
  series.seats = &seats_.With({level, schema});
  return series;
}

}  // namespace cox::apiserver

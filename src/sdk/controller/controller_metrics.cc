// SPDX-License-Identifier: Apache-2.0
#include "sdk/controller/controller_metrics.h"

#include <utility>
#include <vector>

namespace cox::sdk {
namespace {

constexpr std::string_view kPrefix = "controller_runtime_";

MetricOptions Named(std::string_view name, std::string help) {
  return {.name = std::string(kPrefix) + std::string(name),
          .help = std::move(help),
          .stability = Stability::kNone};
}

Counter& ResultCounter(MetricsRegistry& registry, const std::string& controller,
                       std::string_view result) {
  return registry
      .AddCounterVec(Named("reconcile_total", "Reconciles that ended, by controller and result."),
                     {"controller", "result"})
      .With({controller, result});
}

Counter& OneCounter(MetricsRegistry& registry, const std::string& controller, std::string_view name,
                    std::string help) {
  return registry.AddCounterVec(Named(name, std::move(help)), {"controller"}).With({controller});
}

Gauge& OneGauge(MetricsRegistry& registry, const std::string& controller, std::string_view name,
                std::string help) {
  return registry.AddGaugeVec(Named(name, std::move(help)), {"controller"}).With({controller});
}

// The buckets of controller-runtime, so that quantiles are comparable.
std::vector<double> Buckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
          0.7,   0.8,  0.9,   1.0,  1.25, 1.5,  1.75, 2.0,  2.5, 3.0,  3.5, 4.0,  4.5, 5,
          6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
}

}  // namespace

ControllerMetrics::ControllerMetrics(MetricsRegistry& registry, const std::string& controller)
    : success(ResultCounter(registry, controller, "success")),
      error(ResultCounter(registry, controller, "error")),
      requeue_after(ResultCounter(registry, controller, "requeue_after")),
      errors(OneCounter(registry, controller, "reconcile_errors_total",
                        "Reconciles that failed, terminal errors included.")),
      terminal_errors(OneCounter(registry, controller, "terminal_reconcile_errors_total",
                                 "Reconciles that failed and are not tried again.")),
      panics(OneCounter(registry, controller, "reconcile_panics_total",
                        "Reconciles that an exception ended.")),
      timeouts(OneCounter(registry, controller, "reconcile_timeouts_total",
                          "Reconciles that took longer than they may.")),
      seconds(registry
                  .AddHistogramVec(Named("reconcile_time_seconds", "How long reconciles took."),
                                   Buckets(), {"controller"})
                  .With({controller})),
      max_concurrent(OneGauge(registry, controller, "max_concurrent_reconciles",
                              "How many reconciles may run at once.")),
      active_workers(
          OneGauge(registry, controller, "active_workers", "How many reconciles run now.")) {
  // Upstream always exports this series; reconcilers here use requeue_after instead.
  ResultCounter(registry, controller, "requeue");
}

}  // namespace cox::sdk

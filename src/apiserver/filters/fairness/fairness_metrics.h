// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/metrics.h"

namespace cox::apiserver {

// The reason of a rejection: the values of the label "reason".
enum class RejectReason : uint8_t { kQueueFull, kConcurrencyLimit, kTimeOut, kCancelled };
inline constexpr std::array<std::string_view, 4> kRejectReasonNames = {
    "queue-full", "concurrency-limit", "time-out", "cancelled"};

// The metrics of one flow schema at its level. Owned by the registry.
struct FlowSeries {
  Counter* dispatched;
  std::array<Counter*, kRejectReasonNames.size()> refused;
  Gauge* waiting;
  Gauge* waiting_seats;
  Gauge* executing;
  Gauge* executing_seats;
  Histogram* waited;  // of dispatched requests
  Histogram* wait_rejected;
  Histogram* queue_length;  // after enqueuing, including the request
  Histogram* took;
  Histogram* took_watch;  // until the watch has started
  Histogram* seats;       // estimated
};

// The state of a level, for gauges.
struct LevelSample {
  std::string_view name;
  double nominal, lower, upper, current;
  double demand_high, demand_average, demand_deviation, demand_smoothed, target;
  double virtual_time;
};

// The APF metrics, with upstream's names: apiserver_flowcontrol_*.
//
// Threads: All methods may be called concurrently.
class FairnessMetrics {
 public:
  // Scrapes call `levels` during the lifetime of this object, one at a time.
  using ReadLevels = std::function<void(const std::function<void(const LevelSample&)>&)>;
  FairnessMetrics(MetricsRegistry& registry, ReadLevels levels);

  FlowSeries Of(std::string_view level, std::string_view schema);
  void SetFairFraction(double fraction) { fair_fraction_.Set(fraction); }
  void ObserveWatchers(int64_t count) { watchers_.Observe(static_cast<double>(count)); }

 private:
  void AddLevelGauges(MetricsRegistry& registry);

  const ReadLevels levels_;
  CounterVec& dispatched_;
  CounterVec& refused_;
  GaugeVec& waiting_;
  GaugeVec& waiting_seats_;
  GaugeVec& executing_;
  GaugeVec& executing_seats_;
  HistogramVec& waited_;
  HistogramVec& queue_length_;
  HistogramVec& took_;
  HistogramVec& seats_;
  Histogram& watchers_;
  Gauge& fair_fraction_;
  std::vector<MetricHandle> callbacks_;  // last: they read the other members
};

}  // namespace cox::apiserver

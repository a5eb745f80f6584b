// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/metrics.h"

namespace cox::apiserver {

// Why a request was refused, as the label "reason" says it.
enum class Refusal : uint8_t { kQueueFull, kConcurrencyLimit, kTimeOut, kCancelled };
inline constexpr std::array<std::string_view, 4> kRefusalNames = {"queue-full", "concurrency-limit",
                                                                  "time-out", "cancelled"};

// What is counted of the requests of one flow schema at its level. Owned by the registry.
struct FlowSeries {
  Counter* dispatched;
  std::array<Counter*, kRefusalNames.size()> refused;
  Gauge* waiting;
  Gauge* waiting_seats;
  Gauge* executing;
  Gauge* executing_seats;
  Histogram* waited;  // by those that were served
  Histogram* waited_in_vain;
  Histogram* queue_length;  // found by those that had to wait, themselves included
  Histogram* took;
  Histogram* took_watch;  // to begin
  Histogram* seats;       // as estimated
};

// How a level is doing, as gauges show it.
struct LevelSample {
  std::string_view name;
  double nominal, lower, upper, current;
  double demand_high, demand_average, demand_deviation, demand_smoothed, target;
  double virtual_time;
};

// The metrics of priority and fairness, by upstream's names: apiserver_flowcontrol_*.
//
// Threads: all methods may be called concurrently.
class FairnessMetrics {
 public:
  // `levels` is called by scrapes as long as this lives, one at a time.
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
  std::vector<MetricHandle> callbacks_;  // last: they read the rest
};

}  // namespace cox::apiserver

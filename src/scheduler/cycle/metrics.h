// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "scheduler/config/profile.h"
#include "scheduler/framework/verdict.h"

// kube-scheduler's metrics, by its names.
namespace cox::scheduler {

enum class Point : uint8_t {
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kUnreserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
};
inline constexpr size_t kPoints = 11;
inline constexpr size_t kCodes = 7;

double Seconds(Clock::Duration duration);

// The series of one profile, found once.
// Threads: all methods may be called concurrently.
class ProfileMetrics {
 public:
  enum class Outcome : uint8_t { kScheduled, kUnschedulable, kError };

  ProfileMetrics(const Profile& profile, HistogramVec& points, CounterVec& evaluations,
                 CounterVec& attempts, HistogramVec& durations);

  void Observe(Point point, Code code, Clock::Duration took);
  // One evaluation of each plugin that has something to say.
  void CountFilters(const std::vector<bool>& skip);
  void CountScorers(const std::vector<bool>& skip);
  void CountAttempt(Outcome outcome, Clock::Duration took);

 private:
  const std::string profile_;
  HistogramVec& points_;
  std::array<std::array<std::atomic<Histogram*>, kCodes>, kPoints> found_{};
  std::vector<Counter*> pre_filters_, filters_, pre_scorers_, scorers_;
  std::array<Counter*, 3> attempts_{};
  std::array<Histogram*, 3> durations_{};
};

// Threads: all methods may be called concurrently.
class Metrics {
 public:
  // The registry outlives it.
  explicit Metrics(MetricsRegistry& registry);

  ProfileMetrics& Of(const Profile& profile);
  CounterVec& incoming() { return incoming_; }
  Gauge& bindings() { return bindings_; }
  Histogram& algorithm() { return algorithm_; }
  // A Pod was scheduled, at last.
  void CountScheduled(int attempts, Clock::Duration since_first);

 private:
  CounterVec& attempts_;
  HistogramVec& durations_;
  HistogramVec& points_;
  CounterVec& evaluations_;
  CounterVec& incoming_;
  HistogramVec& sli_;
  Histogram& pod_attempts_;
  Histogram& algorithm_;
  Gauge& bindings_;
  Mutex mu_;
  std::map<std::string, std::unique_ptr<ProfileMetrics>> profiles_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::scheduler

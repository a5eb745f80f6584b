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
#include "scheduler/framework/plugin_status.h"

// The metrics of kube-scheduler, with the same names.
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

// The time series of one profile, resolved once.
// Threads: all methods may be called concurrently.
class ProfileMetrics {
 public:
  enum class Outcome : uint8_t { kScheduled, kUnschedulable, kError };

  ProfileMetrics(const Profile& profile, HistogramVec& points, CounterVec& evaluations,
                 CounterVec& attempts, HistogramVec& durations);

  void Observe(Point point, Code code, Clock::Duration took);
  // Counts one evaluation of each plugin that is not skipped.
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
  // The registry outlives this object.
  explicit Metrics(MetricsRegistry& registry);

  ProfileMetrics& Of(const Profile& profile);
  CounterVec& incoming() { return incoming_; }
  Gauge& bindings() { return bindings_; }
  Histogram& algorithm() { return algorithm_; }
  // Records how long a Pod waited for Permit plugins, and what they decided.
  void PermitWaited(Code code, Clock::Duration took);
  // Records a scheduled Pod with all its attempts.
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
  HistogramVec& permit_waits_;
  Gauge& bindings_;
  Mutex mu_;
  std::map<std::string, std::unique_ptr<ProfileMetrics>> profiles_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"

namespace cox::simulate {

enum class RequestKind : uint8_t { kRegister, kNodeStatus, kLease, kPodStatus, kPodDelete };
inline constexpr size_t kRequestKinds = 5;
enum class WatchKind : uint8_t {
  kPods,
  kNode,
  kServices,
  kEndpointSlices,
  kConfigMap,
  kSecret,
};
inline constexpr size_t kWatchKinds = 6;

// The metrics of all nodes of the process; all names begin with "coxswain_simulate_".
//
// Threads: all members may be used concurrently. The registry must outlive it.
class PerNodeMetrics {
 public:
  explicit PerNodeMetrics(MetricsRegistry& registry);

  // One watch kind.
  struct Watch {
    Gauge* open = nullptr;        // watches with a response that has not ended
    Counter* events = nullptr;    // without bookmarks
    Counter* bytes = nullptr;     // received
    Counter* restarts = nullptr;  // resumed from the last resource version
    Counter* relists = nullptr;   // repeated from the beginning
    Counter* expired = nullptr;   // 410 in a response or an event
    Counter* failures = nullptr;  // other responses and broken connections
  };
  const Watch& Of(WatchKind kind) const { return watches_[static_cast<size_t>(kind)]; }

  // `code`: the HTTP status, or a word if there was no response.
  void CountRequest(RequestKind kind, std::string_view code, Clock::Duration took);
  // A renewal that completed `delay` after it was due and `since` after the previous one.
  void CountRenewal(Clock::Duration delay, Clock::Duration since, Clock::Duration lease_duration);

  Gauge& registered;
  Gauge& ready;
  Counter& became_not_ready;
  Gauge& pods;
  Gauge& ready_pods;
  Counter& renewal_failures;

 private:
  CounterVec& requests_;
  std::array<Histogram*, kRequestKinds> durations_{};
  std::array<Watch, kWatchKinds> watches_{};
  Counter& renewals_;
  Counter& late_renewals_;
  Histogram& renewal_delay_;
  std::atomic<int64_t> longest_delay_ = 0;
  MetricHandle longest_delay_gauge_;
};

}  // namespace cox::simulate

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace cox::net {

// Tokens that come back with time. Take returns false when there is none left.
class TokenBucket {
 public:
  TokenBucket(double burst, double per_second)
      : burst_(burst), per_second_(per_second), tokens_(burst) {}

  bool Take(Clock::SteadyTime now) {
    if (now > filled_at_) {
      if (filled_at_ != Clock::SteadyTime{}) {
        const std::chrono::duration<double> passed = now - filled_at_;
        tokens_ = std::min(burst_, tokens_ + passed.count() * per_second_);
      }
      filled_at_ = now;
    }
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }
  void Give(double tokens) { tokens_ = std::min(burst_, tokens_ + tokens); }

 private:
  double burst_;
  double per_second_;
  double tokens_;
  Clock::SteadyTime filled_at_{};
};

// Tells an HTTP/2 peer that is merely busy from one that wears us out: what costs us work and the
// peer next to nothing is rationed. The rations are far above what a client does that cancels all
// its watches at once or pings its connections, and far below what an attack needs.
class FloodGuard {
 public:
  explicit FloodGuard(uint32_t max_streams) : resets_(100 + 4.0 * max_streams, 100) {}

  // Each is called when one came; false: that was one too many.
  bool OnReset(Clock::SteadyTime now) { return resets_.Take(now); }
  // PING, SETTINGS, PRIORITY, empty DATA: the peer's, not answers to ours.
  bool OnControl(Clock::SteadyTime now) { return controls_.Take(now); }
  bool OnWindowUpdate(Clock::SteadyTime now) { return window_updates_.Take(now); }
  // A DATA frame of ours gives reason for window updates; readers in small steps send several.
  void OnDataSent() { window_updates_.Give(20); }

 private:
  TokenBucket resets_;
  TokenBucket controls_{1000, 200};
  TokenBucket window_updates_{2000, 200};
};

}  // namespace cox::net

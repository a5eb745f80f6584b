// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace cox::net {

// A token bucket that is refilled over time. Take returns false when no token is left.
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
  void Add(double tokens) { tokens_ = std::min(burst_, tokens_ + tokens); }

 private:
  double burst_;
  double per_second_;
  double tokens_;
  Clock::SteadyTime filled_at_{};
};

// Rate limits for HTTP/2 frames that cost the server work and the peer almost nothing. The limits
// are far above a client that cancels all its watches at once or pings its connections, and far
// below an attack.
class FloodGuard {
 public:
  explicit FloodGuard(uint32_t max_streams) : resets_(100 + 4.0 * max_streams, 100) {}

  // Each is called when such a frame arrives; false: the limit is exceeded.
  bool OnReset(Clock::SteadyTime now) { return resets_.Take(now); }
  // PING, SETTINGS (without ACK), PRIORITY, empty DATA and other control frames.
  bool OnControl(Clock::SteadyTime now) { return controls_.Take(now); }
  bool OnWindowUpdate(Clock::SteadyTime now) { return window_updates_.Take(now); }
  // Each sent DATA frame justifies window updates; peers that read in small steps send several.
  void OnDataSent() { window_updates_.Add(20); }

 private:
  TokenBucket resets_;
  TokenBucket controls_{1000, 200};
  TokenBucket window_updates_{2000, 200};
};

}  // namespace cox::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace cox {

// A rate limiter: a bucket of `burst` tokens that is refilled at `per_second`.
//
// Threads: one at a time.
class TokenBucket {
 public:
  // REQUIRES: per_second > 0, burst >= 1. Initially full.
  TokenBucket(double per_second, double burst)
      : per_second_(per_second), burst_(burst), tokens_(burst) {}

  // Takes a token and returns zero, or returns the time until one is available. `now` must not
  // decrease.
  Clock::Duration Take(Clock::SteadyTime now) {
    Fill(now);
    // Tolerates rounding errors, which would cause a wait of almost zero.
    if (tokens_ >= 1 - 1e-9) {
      tokens_ -= 1;
      return {};
    }
    return Wait(1 - tokens_);
  }
  // Reserves the next token and returns the time until it is available; later reservations wait
  // longer. `now` must not decrease.
  Clock::Duration Reserve(Clock::SteadyTime now) {
    Fill(now);
    tokens_ -= 1;
    return tokens_ >= -1e-9 ? Clock::Duration() : Wait(-tokens_);
  }

 private:
  void Fill(Clock::SteadyTime now) {
    if (at_ != Clock::SteadyTime()) {
      const std::chrono::duration<double> passed = now - at_;
      tokens_ = std::min(burst_, tokens_ + passed.count() * per_second_);
    }
    at_ = now;
  }
  Clock::Duration Wait(double tokens) const {
    return std::chrono::ceil<std::chrono::microseconds>(
        std::chrono::duration<double>(tokens / per_second_));
  }

  double per_second_, burst_;
  double tokens_;
  Clock::SteadyTime at_{};
};

}  // namespace cox

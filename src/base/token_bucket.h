// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace cox {

// So many at once and so many a second: a bucket of `burst` tokens that fills at `per_second`.
//
// Threads: one at a time.
class TokenBucket {
 public:
  // REQUIRES: per_second > 0, burst >= 1. It is full at first.
  TokenBucket(double per_second, double burst)
      : per_second_(per_second), burst_(burst), tokens_(burst) {}

  // Zero: a token was taken. Else how long it is until there is one. `now` does not go back.
  Clock::Duration Take(Clock::SteadyTime now) {
    Fill(now);
    // A rounding error must not make somebody wait for a moment that is now.
    if (tokens_ >= 1 - 1e-9) {
      tokens_ -= 1;
      return {};
    }
    return Wait(1 - tokens_);
  }
  // Takes the next token there will be, and says how long that is from now: those who ask later
  // wait longer. `now` does not go back.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace cox::apiserver {

// The Retry-After of rejected requests, in seconds. Doubles while many are rejected, up to 32, and
// decreases by one when few are.
//
// Threads: One at a time.
class RetryAfter {
 public:
  static constexpr int64_t kMost = 32;

  int64_t seconds() const { return seconds_; }
  // Counts a rejection.
  void OnRejected(Clock::SteadyTime now);

 private:
  void Advance(int64_t second);

  int64_t seconds_ = 1;
  bool began_ = false;
  int64_t second_ = 0;                     // the current one
  int64_t updated_ = 0;                    // when seconds_ was last adjusted
  std::array<uint64_t, kMost> refused_{};  // per second, modulo kMost
};

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace cox::apiserver {

// What to tell those who are refused: come back in so many seconds. Doubles while many are refused,
// up to 32, and shrinks second by second when few are.
//
// Threads: one at a time.
class RetryAfter {
 public:
  static constexpr int64_t kMost = 32;

  int64_t seconds() const { return seconds_; }
  // One was refused.
  void Refused(Clock::SteadyTime now);

 private:
  void Advance(int64_t second);

  int64_t seconds_ = 1;
  bool began_ = false;
  int64_t second_ = 0;                     // the present one
  int64_t updated_ = 0;                    // when seconds_ was last looked at
  std::array<uint64_t, kMost> refused_{};  // by second, modulo
};

}  // namespace cox::apiserver

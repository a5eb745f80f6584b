// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace cox::simulate {

// Exponential backoff with jitter: each wait is between one and two times the current step, which
// doubles up to `most`. `random` is a number in [0, 1).
class Backoff {
 public:
  Backoff(Clock::Duration first, Clock::Duration most) : first_(first), most_(most), step_(first) {}

  Clock::Duration Next(double random) {
    const Clock::Duration step = step_;
    step_ = std::min(step_ * 2, most_);
    return step + Clock::Duration(static_cast<int64_t>(static_cast<double>(step.count()) * random));
  }
  void Reset() { step_ = first_; }

 private:
  Clock::Duration first_;
  Clock::Duration most_;
  Clock::Duration step_;
};

// The backoff of a kubelet after failed writes.
inline Backoff WriteBackoff() { return {std::chrono::milliseconds(200), std::chrono::seconds(7)}; }

}  // namespace cox::simulate

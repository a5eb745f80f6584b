// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/retry_after.h"

#include <algorithm>
#include <chrono>

namespace cox::apiserver {
namespace {

// The seconds may be negative, because a steady clock has an arbitrary epoch.
size_t Slot(int64_t second) {
  return static_cast<size_t>((second % RetryAfter::kMost + RetryAfter::kMost) % RetryAfter::kMost);
}

}  // namespace

void RetryAfter::OnRejected(Clock::SteadyTime now) {
  const int64_t second =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  if (!began_) {
    began_ = true;
    second_ = updated_ = second;
  }
  while (second_ < second) Advance(std::max(second_ + 1, second - 2 * kMost * kMost));
  ++refused_[Slot(second_)];
}

// A new second has begun. One Retry-After period after the last adjustment, rejected clients have
// retried, so the number of rejections shows whether the period was long enough.
void RetryAfter::Advance(int64_t second) {
  if (second - updated_ >= seconds_) {
    uint64_t refused = 0;
    for (int64_t i = 1; i <= seconds_; ++i) {
      refused += refused_[Slot(second - i)];
    }
    const auto expected = static_cast<uint64_t>(seconds_);
    if (refused >= 3 * expected) {
      seconds_ = std::min(2 * seconds_, kMost);
    } else if (refused < expected && seconds_ > 1) {
      --seconds_;
    }
    updated_ = second;
  }
  second_ = second;
  refused_[Slot(second)] = 0;
}

}  // namespace cox::apiserver

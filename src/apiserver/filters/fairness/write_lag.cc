// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/write_lag.h"

namespace cox::apiserver {

void WriteLag::Begin() {
  MutexLock lock(mu_);
  const Clock::SteadyTime now = clock_.Monotonic();
  Advance(now);
  if (in_progress_++ == 0) progress_ = now;
}

void WriteLag::End(Clock::Duration took, bool succeeded) {
  MutexLock lock(mu_);
  const Clock::SteadyTime now = clock_.Monotonic();
  Advance(now);
  --in_progress_;
  if (!succeeded) return;
  progress_ = now;
  ++succeeded_;
  if (took > kSlow) ++slow_;
}

bool WriteLag::IsBehind() {
  MutexLock lock(mu_);
  const Clock::SteadyTime now = clock_.Monotonic();
  Advance(now);
  return behind_ || (in_progress_ >= kLeast && now - progress_ > kStalled);
}

void WriteLag::Advance(Clock::SteadyTime now) {
  if (now < end_) return;
  // An older interval says nothing about the one before `now`.
  const bool recent = now - end_ < kInterval;
  behind_ = recent && succeeded_ + in_progress_ >= kLeast && slow_ * 2 > succeeded_;
  succeeded_ = slow_ = 0;
  end_ = now + kInterval;
}

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/clock.h"
#include "base/mutex.h"

namespace cox::apiserver {

// Determines from the durations of writes whether the server is behind: more requests arrive than
// it and its store can process.
//
// The server is behind if most writes that succeeded within a second took longer than kSlow, from
// their arrival to the response, or if writes are in progress and none has succeeded for kStalled.
// Failed requests do not count, because they are fast during overload, too. With few writes there
// is no overload, however slow they are.
//
// Threads: all methods may be called concurrently; they take less than a microsecond.
class WriteLag {
 public:
  static constexpr std::chrono::milliseconds kSlow{500};
  static constexpr std::chrono::milliseconds kStalled{1000};
  static constexpr std::chrono::milliseconds kInterval{1000};
  // The least number of writes in an interval, including those in progress.
  static constexpr size_t kLeast = 10;

  explicit WriteLag(const Clock& clock) : clock_(clock) {}

  void Begin();
  void End(Clock::Duration took, bool succeeded);
  bool IsBehind();

 private:
  void Advance(Clock::SteadyTime now) COX_REQUIRES(mu_);

  const Clock& clock_;
  Mutex mu_;
  size_t in_progress_ COX_GUARDED_BY(mu_) = 0;
  // When a write succeeded, or when one began while none was in progress.
  Clock::SteadyTime progress_ COX_GUARDED_BY(mu_);
  Clock::SteadyTime end_ COX_GUARDED_BY(mu_);  // of the interval
  size_t succeeded_ COX_GUARDED_BY(mu_) = 0;   // in the interval
  size_t slow_ COX_GUARDED_BY(mu_) = 0;
  bool behind_ COX_GUARDED_BY(mu_) = false;  // in the interval before
};

}  // namespace cox::apiserver

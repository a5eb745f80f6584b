// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace cox::internal {

// The pending timers of one Clock in the order of their due times. The clocks differ in the caller
// of RunFirst().
//
// Threads: all methods may be called concurrently, RunFirst by one thread at a time.
// Ownership: shared by the clock and its Timer handles, so that neither must outlive the other.
class TimerQueue : public std::enable_shared_from_this<TimerQueue> {
 public:
  Timer Add(Clock::SteadyTime due, std::function<void()> callback);
  bool Cancel(uint64_t id);

  // The due time of the next timer; kNever if there is none.
  Clock::SteadyTime NextDue() const;
  size_t size() const;

  // Runs the first timer if it is due at `now`, without holding a lock. False if none is due.
  bool RunFirst(Clock::SteadyTime now);

  // Drops all pending and future timers, because the clock is destroyed.
  void Close();

 private:
  // Equal due times keep the order of registration, because ids grow.
  using Key = std::pair<Clock::SteadyTime, uint64_t>;

  mutable Mutex mu_;
  CondVar finished_;
  bool closed_ COX_GUARDED_BY(mu_) = false;
  uint64_t last_id_ COX_GUARDED_BY(mu_) = 0;
  std::map<Key, std::function<void()>> pending_ COX_GUARDED_BY(mu_);
  std::unordered_map<uint64_t, Clock::SteadyTime> due_ COX_GUARDED_BY(mu_);
  uint64_t running_ COX_GUARDED_BY(mu_) = 0;  // id of the timer whose callback runs, or 0
  std::thread::id runner_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::internal

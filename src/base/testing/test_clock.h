// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>

#include "base/clock.h"
#include "base/mutex.h"

namespace cox {

// A clock that changes only when the test advances it.
//
//   TestClock clock;
//   Queue queue(clock);                    // its thread blocks in CondVar::WaitUntil
//   queue.AddAfter("key", 5s);
//   clock.WaitForWaiters(1);               // the thread is blocked with a deadline
//   clock.Advance(5s);                     // wakes the thread
//
// Guarantees: Advance() stops at each due time in order: Now() and Monotonic() return that time
//   while its timers run (on the advancing thread, in order of registration) and then its waiters
//   are woken. Timers added by callbacks run within the same Advance() if they are due. When it
//   returns, every due timer has run and every due waiter has been woken.
// Threads: all methods may be called concurrently. Advance() must not be called by a timer's
//   callback.
class TestClock final : public Clock {
 public:
  // 2030-01-02 03:04:05 UTC.
  static constexpr WallTime kStart{std::chrono::seconds(1893553445)};

  explicit TestClock(WallTime start = kStart);
  ~TestClock() override;

  WallTime Now() const override;
  SteadyTime Monotonic() const override;
  Timer After(Duration delay, std::function<void()> callback) override;
  WakeCause Park(Waiter& waiter, SteadyTime deadline) override;

  // REQUIRES: by >= 0
  void Advance(Duration by);
  // Sets the wall time like an administrator: monotonic time, timers and waiters are not affected.
  void SetWallTime(WallTime now);

  // Threads that are blocked with a deadline and not woken yet.
  size_t waiters() const;
  // Timers that have not run.
  size_t timers() const;
  // Blocks (in real time) until at least `n` threads are blocked, or timers are pending.
  void WaitForWaiters(size_t n);
  void WaitForTimers(size_t n);

 private:
  struct Parked {
    Waiter* waiter;
    SteadyTime deadline;
  };
  size_t CountWaiters() const COX_REQUIRES(mu_);
  SteadyTime NextDue() const;
  void MoveTo(SteadyTime moment);

  const std::shared_ptr<internal::TimerQueue> timers_;
  Mutex advance_mu_ COX_ACQUIRED_BEFORE(mu_);  // one Advance at a time
  mutable Mutex mu_;
  CondVar changed_;
  SteadyTime now_ COX_GUARDED_BY(mu_);
  Duration wall_offset_ COX_GUARDED_BY(mu_);  // wall time minus monotonic time
  std::list<Parked> parked_ COX_GUARDED_BY(mu_);
};

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/waiter.h"

namespace cox {

namespace internal {
class TimerQueue;
}

// A pending call, see Clock::After. Destruction cancels it.
//
// Guarantees: once Cancel() or the destructor has returned, the callback does not run and will not
//   run, unless it was called from inside the callback itself.
// Threads: a handle must be used by one thread at a time. Do not destroy it while holding a lock
//   that the callback acquires.
// Ownership: may outlive the Clock; then nothing is pending any more.
class [[nodiscard]] Timer {
 public:
  Timer() = default;
  Timer(Timer&& other) noexcept;
  Timer& operator=(Timer&& other) noexcept;
  ~Timer() { Cancel(); }

  // True if this prevented the callback from running.
  bool Cancel();

 private:
  friend class internal::TimerQueue;
  Timer(std::shared_ptr<internal::TimerQueue> queue, uint64_t id);

  std::shared_ptr<internal::TimerQueue> queue_;
  uint64_t id_ = 0;
};

// The source of time, and waiting. Injected everywhere, so that tests can control time.
//
// Wall time is for display and for timestamps in objects; it may jump. Measurements and waits use
// the monotonic time.
//
// Threads: all methods may be called concurrently.
// Ownership: must outlive its users.
class Clock {
 public:
  using Duration = std::chrono::nanoseconds;
  using WallTime = std::chrono::system_clock::time_point;
  using SteadyTime = std::chrono::steady_clock::time_point;
  static constexpr SteadyTime kNever = SteadyTime::max();

  virtual ~Clock() = default;

  virtual WallTime Now() const = 0;
  virtual SteadyTime Monotonic() const = 0;

  // Monotonic() + `delay`; kNever instead of an overflow.
  SteadyTime In(Duration delay) const;

  // Calls `callback` once after `delay`, on a thread of the clock. Callbacks must be short and must
  // not block: they notify or enqueue. Callbacks due at the same time run in the order of
  // registration.
  virtual Timer After(Duration delay, std::function<void()> callback) = 0;

  // Blocks the calling thread in `waiter` until it is woken or `deadline` has passed.
  // CondVar::WaitUntil and Context::Sleep are built on this; use those outside of `base`.
  virtual WakeCause Park(Waiter& waiter, SteadyTime deadline) = 0;
};

// The system clock. Its timers share one thread, which starts with the first timer.
class RealClock final : public Clock {
 public:
  RealClock();
  ~RealClock() override;

  WallTime Now() const override;
  SteadyTime Monotonic() const override;
  Timer After(Duration delay, std::function<void()> callback) override;
  WakeCause Park(Waiter& waiter, SteadyTime deadline) override;

 private:
  class TimerThread;
  const std::shared_ptr<internal::TimerQueue> timers_;
  const std::unique_ptr<TimerThread> thread_;
};

}  // namespace cox

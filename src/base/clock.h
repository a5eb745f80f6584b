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

// A pending call, see Clock::After. Dropping the handle unregisters it.
//
// Guarantees: once Cancel() or the destructor returned, the callback does not run and will not run;
//   only when called from inside the callback itself does it return while that still runs.
// Threads: one handle, one thread at a time. Do not drop it while holding a lock the callback
// takes. Ownership: may outlive the Clock; then nothing is pending any more.
class [[nodiscard]] Timer {
 public:
  Timer() = default;
  Timer(Timer&& other) noexcept;
  Timer& operator=(Timer&& other) noexcept;
  ~Timer() { Cancel(); }

  // True if this kept the callback from running.
  bool Cancel();

 private:
  friend class internal::TimerQueue;
  Timer(std::shared_ptr<internal::TimerQueue> queue, uint64_t id);

  std::shared_ptr<internal::TimerQueue> queue_;
  uint64_t id_ = 0;
};

// What time it is, and waiting for time to pass. Injected everywhere, so that tests drive time.
//
// Wall time is for people and for what is written to objects; it may jump. Everything that measures
// or waits uses the monotonic time.
//
// Threads: all methods may be called concurrently.
// Ownership: outlives what it was given to.
class Clock {
 public:
  using Duration = std::chrono::nanoseconds;
  using WallTime = std::chrono::system_clock::time_point;
  using SteadyTime = std::chrono::steady_clock::time_point;
  static constexpr SteadyTime kNever = SteadyTime::max();

  virtual ~Clock() = default;

  virtual WallTime Now() const = 0;
  virtual SteadyTime Monotonic() const = 0;

  // Monotonic() + `delay`, without overflow: kNever at the far end.
  SteadyTime In(Duration delay) const;

  // Calls `callback` once, `delay` from now, on a thread of the clock's. Callbacks are short and do
  // not block: they notify or enqueue. Those due at the same time run in the order of registration.
  virtual Timer After(Duration delay, std::function<void()> callback) = 0;

  // Blocks the calling thread in `waiter` until it is woken or `deadline` comes. CondVar::WaitUntil
  // and Context::Sleep are made of this; above `base` use those.
  virtual WakeCause Park(Waiter& waiter, SteadyTime deadline) = 0;
};

// The computer's clock. Its timers share one thread, which starts with the first of them.
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

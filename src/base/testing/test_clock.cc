// SPDX-License-Identifier: Apache-2.0
#include "base/testing/test_clock.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/timer_queue.h"

namespace cox {
namespace {

// Not zero, so that code which subtracts from the monotonic time stays in range.
constexpr Clock::SteadyTime kSteadyStart{std::chrono::hours(1000)};

}  // namespace

TestClock::TestClock(WallTime start)
    : timers_(std::make_shared<internal::TimerQueue>()),
      now_(kSteadyStart),
      wall_offset_(start.time_since_epoch() - kSteadyStart.time_since_epoch()) {}

TestClock::~TestClock() { timers_->Close(); }

Clock::WallTime TestClock::Now() const {
  MutexLock lock(mu_);
  return WallTime(
      std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch() + wall_offset_));
}

Clock::SteadyTime TestClock::Monotonic() const {
  MutexLock lock(mu_);
  return now_;
}

void TestClock::SetWallTime(WallTime now) {
  MutexLock lock(mu_);
  wall_offset_ = now.time_since_epoch() - now_.time_since_epoch();
}

Timer TestClock::After(Duration delay, std::function<void()> callback) {
  Timer timer = timers_->Add(In(delay), std::move(callback));
  // Notifies under the lock, so that WaitForTimers cannot miss it.
  MutexLock lock(mu_);
  changed_.NotifyAll();
  return timer;
}

WakeCause TestClock::Park(Waiter& waiter, SteadyTime deadline) {
  if (deadline == kNever) return waiter.Block(kNever);
  std::list<Parked>::iterator entry;
  {
    MutexLock lock(mu_);
    if (deadline <= now_) waiter.Wake(WakeCause::kTimeout);
    entry = parked_.insert(parked_.end(), {&waiter, deadline});
    changed_.NotifyAll();
  }
  const WakeCause cause = waiter.Block(kNever);
  MutexLock lock(mu_);
  parked_.erase(entry);
  return cause;
}

Clock::SteadyTime TestClock::NextDue() const {
  SteadyTime next = timers_->NextDue();
  MutexLock lock(mu_);
  for (const Parked& parked : parked_) {
    if (!parked.waiter->woken()) next = std::min(next, parked.deadline);
  }
  return next;
}

void TestClock::MoveTo(SteadyTime moment) {
  {
    MutexLock lock(mu_);
    now_ = std::max(now_, moment);  // never decreases, even for an overdue timer
  }
  while (timers_->RunFirst(moment)) {
  }
  MutexLock lock(mu_);
  for (const Parked& parked : parked_) {
    if (parked.deadline <= moment) parked.waiter->Wake(WakeCause::kTimeout);
  }
}

void TestClock::Advance(Duration by) {
  COX_CHECK(by >= Duration::zero()) << "time does not run backwards";
  MutexLock lock(advance_mu_);
  const SteadyTime target = In(by);
  for (SteadyTime due = NextDue(); due <= target && due != kNever; due = NextDue()) MoveTo(due);
  MoveTo(target);
}

size_t TestClock::CountWaiters() const {
  return static_cast<size_t>(
      std::count_if(parked_.begin(), parked_.end(),
                    [](const Parked& parked) { return !parked.waiter->woken(); }));
}

size_t TestClock::waiters() const {
  MutexLock lock(mu_);
  return CountWaiters();
}

size_t TestClock::timers() const { return timers_->size(); }

void TestClock::WaitForWaiters(size_t n) {
  MutexLock lock(mu_);
  changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return CountWaiters() >= n; });
}

void TestClock::WaitForTimers(size_t n) {
  MutexLock lock(mu_);
  changed_.Wait(mu_, [&] { return timers_->size() >= n; });
}

}  // namespace cox

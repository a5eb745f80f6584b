// SPDX-License-Identifier: Apache-2.0
#include "base/mutex.h"

#include <optional>
#include <utility>

#include "base/clock.h"

namespace cox {

template <class Park>
WakeCause CondVar::WaitWith(Mutex& mu, Park park) {
  Waiter waiter;
  {
    MutexLock lock(list_mu_);
    waiters_.push_back(&waiter);
    // Relaxed is sufficient: a notifier that changed the condition under `mu` runs after the
    // release below.
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  mu.Unlock();
  const WakeCause cause = park(waiter);
  RemoveWaiter(waiter);
  mu.Lock();
  return cause;
}

void CondVar::Wait(Mutex& mu) {
  WaitWith(mu, [](Waiter& waiter) { return waiter.Block(Waiter::kNever); });
}

WakeCause CondVar::WaitUntil(Mutex& mu, Clock& clock, Waiter::Deadline deadline,
                             std::stop_token stop) {
  return WaitWith(mu, [&](Waiter& waiter) {
    // Runs at once if the stop was already requested.
    const std::stop_callback wake(std::move(stop), [&] { waiter.Wake(WakeCause::kStopped); });
    return clock.Park(waiter, deadline);
  });
}

void CondVar::RemoveWaiter(Waiter& waiter) {
  MutexLock lock(list_mu_);
  count_.fetch_sub(waiters_.remove(&waiter), std::memory_order_relaxed);
}

void CondVar::NotifyOne() {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  MutexLock lock(list_mu_);
  while (!waiters_.empty()) {
    Waiter& waiter = *waiters_.front();
    waiters_.pop_front();
    count_.fetch_sub(1, std::memory_order_relaxed);
    // A waiter that timed out or was stopped but is still in the list must not consume the
    // notification.
    if (waiter.Wake(WakeCause::kNotified)) return;
  }
}

void CondVar::NotifyAll() {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  MutexLock lock(list_mu_);
  for (Waiter* waiter : waiters_) waiter->Wake(WakeCause::kNotified);
  waiters_.clear();
  count_.store(0, std::memory_order_relaxed);
}

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#include "base/waiter.h"

#include "base/check.h"
#include "base/fiber.h"

namespace cox {

bool Waiter::Wake(WakeCause cause) {
  const std::lock_guard lock(mu_);
  if (cause_) return false;
  cause_ = cause;
  // Under the lock: the owner may destroy this object as soon as it sees the cause.
  if (fiber_ != nullptr) {
    fiber_->MakeReady();
  } else {
    awake_.notify_one();
  }
  return true;
}

bool Waiter::woken() const {
  const std::lock_guard lock(mu_);
  return cause_.has_value();
}

WakeCause Waiter::Block(Deadline deadline) {
  if (Fiber* const fiber = Fiber::Current()) {
    COX_CHECK(deadline == kNever) << "the deadline of a fiber is a timer";
    return BlockFiber(*fiber);
  }
  std::unique_lock lock(mu_);
  while (!cause_) {
    if (deadline == kNever) {
      awake_.wait(lock);  // wait_until(max) overflows in some standard libraries
    } else if (awake_.wait_until(lock, deadline) == std::cv_status::timeout && !cause_) {
      cause_ = WakeCause::kTimeout;
    }
  }
  return *cause_;
}

WakeCause Waiter::BlockFiber(Fiber& fiber) {
  {
    const std::lock_guard lock(mu_);
    if (cause_) return *cause_;
    fiber_ = &fiber;
  }
  // Wake may come first: the fiber continues on its own thread, so only after it has suspended.
  fiber.Suspend();
  const std::lock_guard lock(mu_);
  return *cause_;
}

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#include "base/notification.h"

namespace cox {

void Notification::Notify() {
  MutexLock lock(mu_);
  notified_ = true;
  changed_.NotifyAll();
}

void Notification::Await(const Context& ctx, Clock::Duration at_most) {
  AwaitUntil(ctx, ctx.clock().In(at_most));
}

void Notification::AwaitUntil(const Context& ctx, Clock::SteadyTime until) {
  Context limit = ctx.WithDeadline(until);
  MutexLock lock(mu_);
  (void)limit.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return notified_; });
  notified_ = false;
}

}  // namespace cox

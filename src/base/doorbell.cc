// SPDX-License-Identifier: Apache-2.0
#include "base/doorbell.h"

namespace cox {

void Doorbell::Ring() {
  MutexLock lock(mu_);
  rung_ = true;
  changed_.NotifyAll();
}

void Doorbell::Await(const Context& ctx, Clock::Duration at_most) {
  AwaitUntil(ctx, ctx.clock().In(at_most));
}

void Doorbell::AwaitUntil(const Context& ctx, Clock::SteadyTime until) {
  Context limit = ctx.WithDeadline(until);
  MutexLock lock(mu_);
  (void)limit.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return rung_; });
  rung_ = false;
}

}  // namespace cox

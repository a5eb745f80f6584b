// SPDX-License-Identifier: Apache-2.0
#include "base/doorbell.h"

namespace cox {

void Doorbell::Ring() {
  MutexLock lock(mu_);
  rung_ = true;
  changed_.NotifyAll();
}

void Doorbell::Await(const Context& ctx, Clock::Duration at_most) {
  Context limit = ctx.WithTimeout(at_most);
  MutexLock lock(mu_);
  (void)limit.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return rung_; });
  rung_ = false;
}

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/context.h"
#include "base/mutex.h"

namespace cox {

// How a thread that works when there is something to do learns that there is: others ring, it
// waits. Ringing twice before it looks is ringing once.
//
// Threads: Ring() by any, also by those who must not block; Await() by one.
class Doorbell {
 public:
  void Ring();
  // Until it was rung since the last Await, `at_most` is over, or `ctx` stops: each is a reason to
  // look what there is.
  void Await(const Context& ctx, Clock::Duration at_most);
  void AwaitUntil(const Context& ctx, Clock::SteadyTime until);

 private:
  Mutex mu_;
  CondVar changed_;
  bool rung_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/context.h"
#include "base/mutex.h"

namespace cox {

// Wakes a thread that waits for work. Several notifications before the next wait count as one.
//
// Threads: any thread may call Notify(), which does not block; one thread waits.
class Notification {
 public:
  void Notify();
  // Returns when Notify() was called since the last wait, after `at_most`, or when `ctx` stops.
  void Await(const Context& ctx, Clock::Duration at_most);
  void AwaitUntil(const Context& ctx, Clock::SteadyTime until);

 private:
  Mutex mu_;
  CondVar changed_;
  bool notified_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox

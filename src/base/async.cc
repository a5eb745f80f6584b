// SPDX-License-Identifier: Apache-2.0
#include "base/async.h"

#include <utility>

namespace cox {

void CallAfter(const Context& ctx, Clock::Duration delay, std::function<void(const Status&)> work) {
  struct Pending {
    Context limited;
    StopHandle stop;
  };
  auto pending = std::make_shared<Pending>(Pending{ctx.WithTimeout(delay), {}});
  // The callback holds its own handle until it has run.
  pending->stop = pending->limited.OnStop([pending, ctx, work = std::move(work)]() mutable {
    const std::shared_ptr<Pending> last = std::move(pending);
    const std::function<void(const Status&)> run = std::move(work);
    run(ctx.status());
  });
}

PendingWork::Token PendingWork::Begin() {
  {
    MutexLock lock(state_->mu);
    ++state_->count;
  }
  return {state_.get(), [state = state_](const void*) {
            MutexLock lock(state->mu);
            if (--state->count == 0) state->changed.NotifyAll();
          }};
}

void PendingWork::Wait() {
  MutexLock lock(state_->mu);
  state_->changed.Wait(state_->mu, [this]() {
    state_->mu.AssertHeld();
    return state_->count == 0;
  });
}

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "base/context.h"
#include "base/mutex.h"

// Helpers for work without a waiting thread.
namespace cox {

// Calls `work` once: after `delay` with OK, or with the context's error when it stops before. On
// the clock's thread, the thread that stops the context, or inside of this function; `work` must
// not block.
void CallAfter(const Context& ctx, Clock::Duration delay, std::function<void(const Status&)> work);

// Counts work in progress, so that an object can wait for its callbacks before it is destroyed.
//
// Threads: all methods may be called concurrently.
class PendingWork {
 public:
  using Token = std::shared_ptr<const void>;

  PendingWork() : state_(std::make_shared<State>()) {}
  ~PendingWork() { Wait(); }
  PendingWork(const PendingWork&) = delete;
  PendingWork& operator=(const PendingWork&) = delete;

  // The work is in progress until the last copy of the token is destroyed.
  Token Begin();
  // Waits until no work is in progress.
  void Wait();

 private:
  struct State {
    Mutex mu;
    CondVar changed;
    size_t count COX_GUARDED_BY(mu) = 0;
  };
  const std::shared_ptr<State> state_;
};

}  // namespace cox

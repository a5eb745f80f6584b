// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "base/context.h"
#include "base/mutex.h"
#include "base/scope.h"

namespace cox {

// Threads that do short pieces of blocking work. Threads are started when work waits and none is
// idle, up to a limit, and end again when they have been idle for a while.
//
// Guarantees: work is begun in the order it was given. Queue: bounded; Submit refuses what is over.
// Threads: all methods may be called concurrently, also by the work itself.
class WorkerPool {
 public:
  struct Options {
    std::string name = "worker";
    size_t max_threads = 128;
    size_t max_queue = 16'384;
    Clock::Duration idle = std::chrono::seconds(30);
  };
  WorkerPool(const Context& ctx, Options options);
  ~WorkerPool();

  // False when the queue is full or the pool was stopped: then `work` is left as it was.
  bool Submit(std::function<void()>&& work);

  // Lets what runs come to its end, drops what waits.
  void Stop();

  size_t threads() const;

 private:
  void Run(Context& ctx);

  const Options options_;
  Clock& clock_;
  mutable Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> queue_ COX_GUARDED_BY(mu_);
  size_t threads_ COX_GUARDED_BY(mu_) = 0;
  size_t idle_ COX_GUARDED_BY(mu_) = 0;
  bool stopped_ COX_GUARDED_BY(mu_) = false;
  Scope scope_;
};

}  // namespace cox

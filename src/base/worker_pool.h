// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "base/context.h"
#include "base/mutex.h"
#include "base/scope.h"

namespace cox {

// A thread pool for short blocking tasks. Threads are started when tasks wait and no thread is
// idle, up to a limit, and end after some idle time.
//
// Guarantees: tasks start in the order of submission. The queue is bounded; Submit rejects excess
//   tasks.
// Threads: all methods may be called concurrently, also by the tasks.
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

  // False when the queue is full or the pool is stopped: then `work` is unchanged.
  bool Submit(std::function<void()>&& work);

  // Waits for running tasks, drops queued ones.
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

// SPDX-License-Identifier: Apache-2.0
#include "base/worker_pool.h"

#include <utility>

namespace cox {

WorkerPool::WorkerPool(const Context& ctx, Options options)
    : options_(std::move(options)), clock_(ctx.clock()), scope_(ctx, options_.name) {}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::Submit(std::function<void()>&& work) {
  std::deque<std::function<void()>> dropped;  // destroyed without the lock
  {
    MutexLock lock(mu_);
    if (stopped_ || queue_.size() >= options_.max_queue) return false;
    // Each idle thread takes one task: if more tasks wait, another thread is started.
    if (queue_.size() < idle_ || threads_ >= options_.max_threads) {
      queue_.push_back(std::move(work));
      changed_.NotifyOne();
      return true;
    }
    ++threads_;
  }
  const bool started = scope_.Go(options_.name, [this](Context& ctx) { Run(ctx); }).ok();
  MutexLock lock(mu_);
  if (!started && --threads_ == 0) {  // no thread is left to run them
    dropped.swap(queue_);
    return false;
  }
  if (stopped_) return false;
  queue_.push_back(std::move(work));
  changed_.NotifyOne();
  return true;
}

void WorkerPool::Run(Context& ctx) {
  mu_.Lock();
  while (!stopped_) {
    if (queue_.empty()) {
      ++idle_;
      const bool work = changed_.WaitUntil(
          mu_, clock_, clock_.In(options_.idle), ctx.token(),
          [this]() COX_NO_THREAD_SAFETY_ANALYSIS { return stopped_ || !queue_.empty(); });
      --idle_;
      if (!work || stopped_) break;
    }
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    mu_.Unlock();
    work();
    work = nullptr;  // destroys its captures without the lock
    mu_.Lock();
  }
  --threads_;
  mu_.Unlock();
}

void WorkerPool::Stop() {
  std::deque<std::function<void()>> dropped;
  {
    MutexLock lock(mu_);
    stopped_ = true;
    dropped.swap(queue_);
  }
  changed_.NotifyAll();
  scope_.Stop();
  scope_.Wait();
}

size_t WorkerPool::threads() const {
  MutexLock lock(mu_);
  return threads_;
}

}  // namespace cox

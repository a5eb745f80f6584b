// SPDX-License-Identifier: Apache-2.0
#include "base/timer_queue.h"

namespace cox {

Timer::Timer(std::shared_ptr<internal::TimerQueue> queue, uint64_t id)
    : queue_(std::move(queue)), id_(id) {}

Timer::Timer(Timer&& other) noexcept : queue_(std::move(other.queue_)), id_(other.id_) {}

Timer& Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    Cancel();
    queue_ = std::move(other.queue_);
    id_ = other.id_;
  }
  return *this;
}

bool Timer::Cancel() {
  // Moved out first: the callback may destroy this handle.
  const auto queue = std::move(queue_);
  queue_ = nullptr;
  return queue != nullptr && queue->Cancel(id_);
}

namespace internal {

Timer TimerQueue::Add(Clock::SteadyTime due, std::function<void()> callback) {
  MutexLock lock(mu_);
  if (closed_) return {};
  const uint64_t id = ++last_id_;
  pending_.emplace(Key(due, id), std::move(callback));
  due_.emplace(id, due);
  return {shared_from_this(), id};
}

bool TimerQueue::Cancel(uint64_t id) {
  std::function<void()> dropped;  // destroyed after the lock: captures may do anything
  MutexLock lock(mu_);
  if (auto found = due_.find(id); found != due_.end()) {
    auto entry = pending_.find(Key(found->second, id));
    dropped = std::move(entry->second);
    pending_.erase(entry);
    due_.erase(found);
    lock.Unlock();
    dropped = nullptr;
    return true;
  }
  if (running_ == id && runner_ != std::this_thread::get_id()) {
    finished_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return running_ != id; });
  }
  return false;
}

Clock::SteadyTime TimerQueue::NextDue() const {
  MutexLock lock(mu_);
  return pending_.empty() ? Clock::kNever : pending_.begin()->first.first;
}

size_t TimerQueue::size() const {
  MutexLock lock(mu_);
  return pending_.size();
}

bool TimerQueue::RunFirst(Clock::SteadyTime now) {
  std::function<void()> callback;
  {
    MutexLock lock(mu_);
    if (pending_.empty() || pending_.begin()->first.first > now) return false;
    auto first = pending_.begin();
    running_ = first->first.second;
    runner_ = std::this_thread::get_id();
    callback = std::move(first->second);
    due_.erase(running_);
    pending_.erase(first);
  }
  callback();
  callback = nullptr;  // destroys its captures before Cancel returns
  MutexLock lock(mu_);
  running_ = 0;
  finished_.NotifyAll();
  return true;
}

void TimerQueue::Close() {
  std::map<Key, std::function<void()>> dropped;
  MutexLock lock(mu_);
  closed_ = true;
  dropped.swap(pending_);
  due_.clear();
  lock.Unlock();
}

}  // namespace internal
}  // namespace cox

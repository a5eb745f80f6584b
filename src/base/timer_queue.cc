// SPDX-License-Identifier: Apache-2.0
#include "base/timer_queue.h"

#include <utility>

#include "base/check.h"

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
namespace {

// Memory for fewer timers is kept.
constexpr size_t kKeptSlots = 1024;

}  // namespace

Timer TimerQueue::Add(Clock::SteadyTime due, std::function<void()> callback) {
  MutexLock lock(mu_);
  if (closed_) return {};
  const size_t slot = TakeSlot();
  const uint64_t sequence = ++last_sequence_;
  const uint64_t id = sequence << kSlotBits | slot;
  slots_[slot].callback = std::move(callback);
  slots_[slot].id = id;
  heap_.emplace_back();
  MoveUp(heap_.size() - 1, {.due = due, .sequence = sequence, .slot = slot});
  const bool wakes = due < waits_for_;
  if (wakes) waits_for_ = Clock::SteadyTime::min();  // one notification is sufficient
  lock.Unlock();
  if (wakes) earlier_.NotifyOne();
  return {shared_from_this(), id};
}

bool TimerQueue::Cancel(uint64_t id) {
  std::function<void()> dropped;
  MutexLock lock(mu_);
  const size_t slot = id & ((uint64_t{1} << kSlotBits) - 1);
  if (slot < slots_.size() && slots_[slot].position != kFree && slots_[slot].id == id) {
    dropped = Remove(slots_[slot].position);
    lock.Unlock();
    dropped = nullptr;
    return true;
  }
  if (running_ == id && runner_ != std::this_thread::get_id()) {
    finished_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return running_ != id; });
  }
  return false;
}

size_t TimerQueue::TakeSlot() {
  if (!free_slots_.empty()) {
    const size_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }
  COX_CHECK(slots_.size() < size_t{1} << kSlotBits) << "too many pending timers";
  slots_.emplace_back();
  return slots_.size() - 1;
}

void TimerQueue::Place(size_t position, Entry entry) {
  slots_[entry.slot].position = position;
  heap_[position] = entry;
}

void TimerQueue::MoveUp(size_t position, Entry entry) {
  while (position > 0) {
    const size_t parent = (position - 1) / 2;
    if (!(entry < heap_[parent])) break;
    Place(position, heap_[parent]);
    position = parent;
  }
  Place(position, entry);
}

void TimerQueue::MoveDown(size_t position, Entry entry) {
  while (true) {
    size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
    if (!(heap_[child] < entry)) break;
    Place(position, heap_[child]);
    position = child;
  }
  Place(position, entry);
}

std::function<void()> TimerQueue::Remove(size_t position) {
  const size_t slot = heap_[position].slot;
  std::function<void()> callback = std::exchange(slots_[slot].callback, nullptr);
  slots_[slot].position = kFree;
  free_slots_.push_back(slot);
  const Entry last = heap_.back();
  heap_.pop_back();
  if (position < heap_.size()) {
    if (position > 0 && last < heap_[(position - 1) / 2]) {
      MoveUp(position, last);
    } else {
      MoveDown(position, last);
    }
  }
  if (heap_.empty()) ReleaseUnusedMemory();
  return callback;
}

void TimerQueue::ReleaseUnusedMemory() {
  if (slots_.size() <= kKeptSlots) return;
  heap_ = {};
  slots_ = {};
  free_slots_ = {};
}

Clock::SteadyTime TimerQueue::NextDue() const {
  MutexLock lock(mu_);
  return heap_.empty() ? Clock::kNever : heap_.front().due;
}

size_t TimerQueue::size() const {
  MutexLock lock(mu_);
  return heap_.size();
}

size_t TimerQueue::wakeups() const {
  MutexLock lock(mu_);
  return wakeups_;
}

bool TimerQueue::WaitUntilDue(Clock& clock) {
  MutexLock lock(mu_);
  while (!closed_) {
    const Clock::SteadyTime due = heap_.empty() ? Clock::kNever : heap_.front().due;
    if (due <= clock.Monotonic()) return true;
    waits_for_ = due;
    earlier_.WaitUntil(mu_, clock, due);
    waits_for_ = Clock::SteadyTime::min();
    ++wakeups_;
  }
  return false;
}

bool TimerQueue::RunFirst(Clock::SteadyTime now) {
  std::function<void()> callback;
  {
    MutexLock lock(mu_);
    if (heap_.empty() || heap_.front().due > now) return false;
    running_ = slots_[heap_.front().slot].id;
    runner_ = std::this_thread::get_id();
    callback = Remove(0);
  }
  callback();
  callback = nullptr;  // destroys its captures before Cancel returns
  MutexLock lock(mu_);
  running_.reset();
  finished_.NotifyAll();
  return true;
}

void TimerQueue::Close() {
  std::vector<Slot> dropped;
  MutexLock lock(mu_);
  closed_ = true;
  dropped.swap(slots_);
  heap_.clear();
  free_slots_.clear();
  earlier_.NotifyOne();
  lock.Unlock();
}

}  // namespace internal
}  // namespace cox

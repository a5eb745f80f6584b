// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace cox::internal {

// The pending timers of one Clock in the order of their due times. The clocks differ in the caller
// of RunFirst().
//
// Most timers are deadlines of requests: they are added behind all pending ones and cancelled soon
// after. For these, Add and Cancel take constant time; the worst case is O(log n). Neither
// allocates memory, except when the number of pending timers reaches a new maximum.
// Threads: all methods may be called concurrently, RunFirst and WaitUntilDue by one thread at a
//   time.
// Ownership: shared by the clock and its Timer handles, so that neither must outlive the other.
class TimerQueue : public std::enable_shared_from_this<TimerQueue> {
 public:
  Timer Add(Clock::SteadyTime due, std::function<void()> callback);
  bool Cancel(uint64_t id);

  // The due time of the next timer; kNever if there is none.
  Clock::SteadyTime NextDue() const;
  size_t size() const;

  // Blocks until the first timer is due on `clock`. Returns false after Close(). Add wakes the
  // caller only if the new timer is due earlier than the time that the caller waits for.
  bool WaitUntilDue(Clock& clock);
  // How often WaitUntilDue stopped blocking.
  size_t wakeups() const;

  // Runs the first timer if it is due at `now`, without holding a lock. False if none is due.
  bool RunFirst(Clock::SteadyTime now);

  // Drops all pending and future timers, because the clock is destroyed.
  void Close();

 private:
  // An id consists of the lower bits of the timer's sequence number, and of its slot. A cancelled
  // or finished timer does not match the next one in its slot.
  static constexpr int kSlotBits = 28;

  struct Slot {
    std::function<void()> callback;
    uint64_t id = 0;
    size_t position = kFree;  // in heap_
  };
  static constexpr size_t kFree = SIZE_MAX;

  struct Entry {
    Clock::SteadyTime due;
    uint64_t sequence;
    size_t slot;

    // Equal due times keep the order of registration.
    bool operator<(const Entry& other) const {
      return due != other.due ? due < other.due : sequence < other.sequence;
    }
  };

  size_t TakeSlot() COX_REQUIRES(mu_);
  void MoveUp(size_t position, Entry entry) COX_REQUIRES(mu_);
  void MoveDown(size_t position, Entry entry) COX_REQUIRES(mu_);
  void Place(size_t position, Entry entry) COX_REQUIRES(mu_);
  // Removes a timer and returns its callback, which must be destroyed without the lock, because its
  // captures may use the clock.
  std::function<void()> Remove(size_t position) COX_REQUIRES(mu_);
  void ReleaseUnusedMemory() COX_REQUIRES(mu_);

  mutable Mutex mu_;
  CondVar finished_;
  CondVar earlier_;
  bool closed_ COX_GUARDED_BY(mu_) = false;
  uint64_t last_sequence_ COX_GUARDED_BY(mu_) = 0;
  std::vector<Entry> heap_ COX_GUARDED_BY(mu_);  // binary heap, the first due timer in front
  std::vector<Slot> slots_ COX_GUARDED_BY(mu_);
  std::vector<size_t> free_slots_ COX_GUARDED_BY(mu_);
  // What WaitUntilDue waits for; `min` if it does not block.
  Clock::SteadyTime waits_for_ COX_GUARDED_BY(mu_) = Clock::SteadyTime::min();
  size_t wakeups_ COX_GUARDED_BY(mu_) = 0;
  std::optional<uint64_t> running_ COX_GUARDED_BY(mu_);  // the timer whose callback runs
  std::thread::id runner_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::internal

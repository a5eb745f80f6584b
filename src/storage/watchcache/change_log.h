// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/string_hash.h"
#include "storage/watchcache/change.h"

namespace cox::storage {

// The latest changes of one resource, and their watchers.
//
// A ring buffer: when it is full, the oldest change is dropped, even if some watchers have not read
// it; they expire at their next Take(). If the oldest change is younger than kWindow, the ring
// grows instead, up to its maximum, so that a client that lost its connection can resume. Changes
// that are older than kWindow are dropped every kTrimEvery, down to the minimum capacity. The
// earlier states of objects that the ring keeps alive are limited in bytes, and after a large part
// of them was dropped, their memory is returned to the kernel.
//
// Waiting watchers are indexed, so that a change costs only the watchers that match: by the
// prefixes of the keys of the resource (the resource, the namespace, the key), and by the value of
// the resource's indexed field.
//
// Guarantees: each watcher gets every change of its keys after its start revision, once and in
//   order, or Expired. A watcher that took everything is woken by the next change for it.
// Threads: all methods may be called concurrently; methods that add changes by one thread at a
//   time.
// Ownership: shared with watchers, so it may outlive the cache.
class ChangeLog : public std::enable_shared_from_this<ChangeLog> {
 public:
  static constexpr std::chrono::seconds kWindow{75};
  static constexpr std::chrono::seconds kTrimEvery{10};
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  // Watchers to wake. Call Run() without locks; it drops the references to the watchers.
  class Wakes {
   public:
    ~Wakes();
    Wakes();
    Wakes(Wakes&&) noexcept;
    Wakes& operator=(Wakes&&) noexcept;
    void Run();
    size_t size() const { return due_.size(); }

   private:
    friend class ChangeLog;
    struct State;
    std::vector<std::shared_ptr<State>> due_;
    std::vector<ChangePtr> gone_;  // dropped from the ring; freed without the lock
  };

  // `root` is the prefix of all keys.
  ChangeLog(Clock& clock, std::string root, size_t capacity, size_t max_capacity,
            size_t max_bytes = kMaxBytes);

  // Restarts at `revision`: drops all changes, and all watchers expire.
  [[nodiscard]] Wakes Restart(Revision revision);
  // Rejects new watchers that start before `revision`; existing ones continue.
  void RejectBefore(Revision revision);
  // Adds changes in order; afterwards the log is complete up to `revision`.
  // REQUIRES: the revisions do not decrease.
  [[nodiscard]] Wakes Append(std::span<const ChangePtr> changes, Revision revision);

  // No more changes follow: watchers that have taken everything see Batch::ended.
  [[nodiscard]] Wakes End();

  // Errors: Expired if changes after `options.after` were dropped.
  Result<std::unique_ptr<Watcher>> Watch(WatchOptions options);

  // The changes after `revision`, oldest first; nullopt if some of them were dropped.
  std::optional<std::vector<ChangePtr>> Since(Revision revision) const;
  // Whether the log contains a change of the key with exactly this revision.
  bool Has(std::string_view key, Revision revision) const;

  size_t capacity() const;
  // The size of the earlier states of objects that the changes keep alive.
  size_t bytes() const;
  size_t watchers() const;
  // All changes after this revision are in the log.
  Revision oldest() const;
  // Number of watchers that expired.
  uint64_t expired() const;

 private:
  using State = Wakes::State;
  class Handle;
  struct Slot {
    ChangePtr change;
    Clock::SteadyTime added;
    // Hashes of the values of the indexed field after and before the change. Watchers that are
    // behind compare them, which is faster than reading the heads.
    size_t value_hash = 0;
    size_t previous_value_hash = 0;
  };
  // Waiting watchers (those that took everything) of one prefix or value.
  struct Group {
    std::vector<State*> waiting;
    size_t members = 0;
  };
  using Groups = std::unordered_map<std::string, Group, StringHash, std::equal_to<>>;

  Result<Watcher::Batch> Take(State& state, size_t max_changes);
  void RemoveWatcher(State& state);

  uint64_t NextNumber() const COX_REQUIRES(mu_) { return first_ + slots_.size(); }
  const Slot& SlotAt(uint64_t number) const COX_REQUIRES(mu_) {
    return slots_[static_cast<size_t>(number - first_)];
  }
  const Change& At(uint64_t number) const COX_REQUIRES(mu_) { return *SlotAt(number).change; }
  // The first change with a larger revision.
  uint64_t After(Revision revision) const COX_REQUIRES(mu_);
  bool Concerns(const State& state, const Slot& slot) const;
  Status Expire(State& state) COX_REQUIRES(mu_);
  // Makes room for one more change that keeps `bytes` alive.
  void MakeRoom(Clock::SteadyTime now, size_t bytes, Wakes& wakes) COX_REQUIRES(mu_);
  void DropOldest(Wakes& wakes) COX_REQUIRES(mu_);
  void Trim();
  // Drops some changes that are older than kWindow, down to the minimum capacity. Returns whether
  // the memory of the dropped changes should be returned to the kernel.
  bool DropOld(Wakes& dropped);
  void ScheduleTrim(Clock::SteadyTime now) COX_REQUIRES(mu_);
  void WakeFor(uint64_t number, Wakes& wakes) COX_REQUIRES(mu_);
  void WakeGroup(Group& group, uint64_t number, Wakes& wakes) COX_REQUIRES(mu_);
  void WakeForProgress(Wakes& wakes) COX_REQUIRES(mu_);
  void Wait(State& state) COX_REQUIRES(mu_);
  void StopWaiting(State& state) COX_REQUIRES(mu_);
  void Enter(State& state) COX_REQUIRES(mu_);
  // The map that contains the watcher's group, and its key there; null for other_group_.
  std::pair<Groups*, std::string_view> GroupsOf(const State& state) COX_REQUIRES(mu_);

  Clock& clock_;
  const std::string root_;
  const size_t min_capacity_;
  const size_t max_capacity_;
  const size_t max_bytes_;

  mutable Mutex mu_;
  std::deque<Slot> slots_ COX_GUARDED_BY(mu_);
  uint64_t first_ COX_GUARDED_BY(mu_) = 0;  // the number of slots_.front()
  size_t capacity_ COX_GUARDED_BY(mu_);
  size_t bytes_ COX_GUARDED_BY(mu_) = 0;
  size_t most_bytes_ COX_GUARDED_BY(mu_) = 0;  // since memory was last returned to the kernel
  Revision oldest_ COX_GUARDED_BY(mu_) = 0;
  Revision revision_ COX_GUARDED_BY(mu_) = 0;
  uint64_t expired_ COX_GUARDED_BY(mu_) = 0;
  bool ended_ COX_GUARDED_BY(mu_) = false;
  // By values of the indexed field, by prefixes that end with '/', by complete keys, and one group
  // for all other prefixes.
  Groups values_ COX_GUARDED_BY(mu_);
  Groups folders_ COX_GUARDED_BY(mu_);
  Groups keys_ COX_GUARDED_BY(mu_);
  Group other_group_ COX_GUARDED_BY(mu_);
  std::unordered_set<State*> watchers_ COX_GUARDED_BY(mu_);
  std::unordered_set<State*> often_ COX_GUARDED_BY(mu_);  // the watchers with wake_often
  bool trim_scheduled_ COX_GUARDED_BY(mu_) = false;
  Timer trim_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::storage

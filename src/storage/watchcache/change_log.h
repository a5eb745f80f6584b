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
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "storage/watchcache/change.h"

namespace cox::storage {

// The latest changes of one resource, and who reads them.
//
// A ring: when it is full, the oldest change makes room, whether all watchers have read it or not;
// one that has not is Expired when it comes. If the oldest is younger than kWindow the ring grows
// instead, up to its maximum: a client that lost its connection should find its place again. When
// a quarter of the ring spans more than that, it shrinks.
//
// Watchers that wait are found by their prefix, so that a change costs those it concerns: a map
// holds them by the prefixes that keys of the resource have (the resource, the namespace, the key).
//
// Guarantees: each watcher gets every change of its keys after the revision it began at, once and
// in
//   order, or Expired. A watcher that took everything is woken by the next change for it.
// Threads: all methods may be called concurrently; those that add, by one thread at a time.
// Ownership: watchers share it, so it may outlive the cache.
class ChangeLog : public std::enable_shared_from_this<ChangeLog> {
 public:
  static constexpr std::chrono::seconds kWindow{75};

  // Watchers to wake. To be run without locks; drops its references to them.
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
    std::vector<ChangePtr> gone_;  // fell out of the ring; freed where nobody waits for it
  };

  // `root` is the prefix of all keys.
  ChangeLog(Clock& clock, std::string root, size_t capacity, size_t max_capacity);

  // Begins anew at `revision`: forgets everything, and all watchers are Expired.
  [[nodiscard]] Wakes Restart(Revision revision);
  // New watchers cannot begin before `revision` any more; those that exist go on.
  void Bar(Revision revision);
  // Adds changes, in order; from now on everything up to `revision` is here.
  // REQUIRES: the revisions do not fall.
  [[nodiscard]] Wakes Append(std::span<const ChangePtr> changes, Revision revision);

  // No change will follow: watchers that have taken everything see Batch::ended.
  [[nodiscard]] Wakes End();

  // Expired if changes after `options.after` are no longer here.
  Result<std::unique_ptr<Watcher>> Watch(WatchOptions options);

  // The changes after `revision`, oldest first; none if they are no longer all here.
  std::optional<std::vector<ChangePtr>> Since(Revision revision) const;
  // Whether a change of the key with just this revision is here.
  bool Has(std::string_view key, Revision revision) const;

  size_t capacity() const;
  size_t watchers() const;
  // The revision after which everything is here.
  Revision oldest() const;
  // Watchers that came too late.
  uint64_t expired() const;

 private:
  using State = Wakes::State;
  class Handle;
  struct Slot {
    ChangePtr change;
    Clock::SteadyTime added;
  };
  // Those that took everything, of one prefix.
  struct Group {
    std::vector<State*> waiting;
    size_t members = 0;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Groups = std::unordered_map<std::string, Group, Hash, std::equal_to<>>;

  Result<Watcher::Batch> Take(State& state, size_t max_changes);
  void Leave(State& state);

  uint64_t NextNumber() const COX_REQUIRES(mu_) { return first_ + slots_.size(); }
  const Change& At(uint64_t number) const COX_REQUIRES(mu_) {
    return *slots_[static_cast<size_t>(number - first_)].change;
  }
  // The first change with a larger revision.
  uint64_t After(Revision revision) const COX_REQUIRES(mu_);
  bool Concerns(const State& state, const Change& change) const;
  Status Expire(State& state) COX_REQUIRES(mu_);
  // Room for one more.
  void MakeRoom(Clock::SteadyTime now, Wakes& wakes) COX_REQUIRES(mu_);
  void WakeFor(uint64_t number, Wakes& wakes) COX_REQUIRES(mu_);
  void WakeGroup(Group& group, uint64_t number, Wakes& wakes) COX_REQUIRES(mu_);
  void WakeForProgress(Wakes& wakes) COX_REQUIRES(mu_);
  void Wait(State& state) COX_REQUIRES(mu_);
  void StopWaiting(State& state) COX_REQUIRES(mu_);
  void Enter(State& state) COX_REQUIRES(mu_);

  Clock& clock_;
  const std::string root_;
  const size_t min_capacity_;
  const size_t max_capacity_;

  mutable Mutex mu_;
  std::deque<Slot> slots_ COX_GUARDED_BY(mu_);
  uint64_t first_ COX_GUARDED_BY(mu_) = 0;  // the number of slots_.front()
  size_t capacity_ COX_GUARDED_BY(mu_);
  Revision oldest_ COX_GUARDED_BY(mu_) = 0;
  Revision revision_ COX_GUARDED_BY(mu_) = 0;
  uint64_t expired_ COX_GUARDED_BY(mu_) = 0;
  bool ended_ COX_GUARDED_BY(mu_) = false;
  // By prefixes that end with '/', by whole keys, and those of any other prefix together.
  Groups folders_ COX_GUARDED_BY(mu_);
  Groups keys_ COX_GUARDED_BY(mu_);
  Group odd_ COX_GUARDED_BY(mu_);
  std::unordered_set<State*> watchers_ COX_GUARDED_BY(mu_);
  std::unordered_set<State*> often_ COX_GUARDED_BY(mu_);  // those of them with wake_often
};

}  // namespace cox::storage

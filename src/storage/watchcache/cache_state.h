// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "base/published.h"
#include "base/result.h"
#include "storage/store.h"
#include "storage/watchcache/change_log.h"
#include "storage/watchcache/key_tree.h"
#include "storage/watchcache/snapshot.h"

namespace cox::storage {

// What a watch cache knows: the objects, the latest changes, and up to which revision.
//
// One feeds it (Replace, Apply), many read. A change is in the tree before watchers can see it, and
// no snapshot can be taken between the two: so whoever got a change finds it in the next snapshot,
// and the log always explains a snapshot.
//
// Threads: all methods may be called concurrently; Replace and Apply by one thread at a time.
class CacheState {
 public:
  CacheState(Clock& clock, std::string prefix, size_t capacity, size_t max_capacity,
             const HeadReader& head_reader, std::shared_ptr<EncodingBudget> encodings);

  bool ready() const { return ready_.load(std::memory_order_acquire); }
  Revision revision() const { return revision_.load(std::memory_order_acquire); }
  ChangeLog& log() { return *log_; }
  const ChangeLog& log() const { return *log_; }

  // Null until ready.
  SnapshotPtr Current() const;
  // The state at a past revision: the current one with later changes undone. Null if the log does
  // not reach back that far.
  SnapshotPtr At(Revision revision);
  // True once revision() >= `revision` and ready; false at `deadline`, when `ctx` stops, or after
  // End().
  bool Await(const Context& ctx, Revision revision, Clock::SteadyTime deadline);

  // Nothing will follow: watchers end when they have taken everything, and nobody waits any longer.
  void End();
  bool ended() const { return ended_.load(std::memory_order_acquire); }

  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  size_t objects() const { return objects_.load(std::memory_order_relaxed); }

  // An entry with its head read. For the feeding thread.
  EntryPtr MakeEntry(const KeyValue& kv);

  // The store as listed at `revision`, by key. The first makes it ready. Later ones find what
  // differs: watchers get it as changes, or are Expired where order does not permit that.
  struct Difference {
    size_t changes = 0;
    bool told = true;  // false: watchers were ended
  };
  Difference Replace(std::vector<EntryPtr> entries, Revision revision);

  // A batch of the store's watch.
  struct Outcome {
    size_t changes = 0;
    size_t repeated = 0;  // seen before, and ignored
    // Not empty: what contradicts the state. Nothing from there on was applied.
    std::string inconsistency;
  };
  Outcome Apply(const WatchBatch& batch);

 private:
  using Changes = std::vector<ChangePtr>;

  enum class Fit : uint8_t { kNext, kRepeated, kContradicts };
  // `changes` are those of the same batch, before.
  Fit Classify(const Event& event, const Changes& changes) const COX_REQUIRES(mu_);
  ChangePtr ApplyEvent(const Event& event, EntryPtr entry) COX_REQUIRES(mu_);
  // Readers make a new snapshot when they need one. Returns the old one, to be freed elsewhere.
  SnapshotPtr Unpublish(Revision revision) COX_REQUIRES(mu_);
  void ForgetPast();

  const EntryClassPtr type_;
  const HeadReader& head_reader_;
  const std::shared_ptr<ChangeLog> log_;
  HeadBuilder head_;  // of the feeding thread

  std::atomic<bool> ready_ = false;
  std::atomic<bool> ended_ = false;
  std::atomic<Revision> revision_ = 0;
  std::atomic<size_t> bytes_ = 0;
  std::atomic<size_t> objects_ = 0;
  mutable Published<const Snapshot> published_;  // null: not made since the last change

  mutable Mutex mu_;
  CondVar advanced_;
  // Const methods share its nodes, which changes who owns them and not what they hold.
  mutable KeyTree tree_ COX_GUARDED_BY(mu_);

  // States of the past that were asked for, the latest last: lists in pages come back for them.
  Mutex past_mu_;
  std::deque<SnapshotPtr> past_ COX_GUARDED_BY(past_mu_);
};

}  // namespace cox::storage

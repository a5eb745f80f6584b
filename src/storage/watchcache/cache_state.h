// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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
#include "storage/watchcache/field_index.h"
#include "storage/watchcache/key_tree.h"
#include "storage/watchcache/past_states.h"
#include "storage/watchcache/snapshot.h"

namespace cox::storage {

// The state of a watch cache: the objects, the latest changes, and the current revision.
//
// One thread updates it (Replace, Apply), many read. A change is in the tree before watchers can
// see it, and no snapshot can be taken between the two. So a snapshot taken after a watcher
// received a change contains that change, and the log always contains the changes that led to a
// snapshot.
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
  // The state at a past revision. Null if the log no longer contains all changes since then.
  SnapshotPtr At(Revision revision);
  // The objects whose indexed field has `value`, sorted by key, at revision().
  Selection FindByField(std::string_view value) const;
  const PastStates& past() const { return past_; }
  // True once revision() >= `revision` and ready; false at `deadline`, when `ctx` stops, or after
  // End().
  bool Await(const Context& ctx, Revision revision, Clock::SteadyTime deadline);

  // No more updates follow: watchers end when they have taken all changes, and Await() returns.
  void End();
  bool ended() const { return ended_.load(std::memory_order_acquire); }

  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  size_t objects() const { return objects_.load(std::memory_order_relaxed); }

  // Creates an entry and reads its head. Only for the updating thread.
  EntryPtr MakeEntry(const KeyValue& kv);

  // Replaces the objects by a list of the store at `revision`, sorted by key. The first call makes
  // the state ready. Later calls compute the difference: watchers receive it as changes, or expire
  // if the changes cannot be put in order of revision.
  struct Difference {
    size_t changes = 0;
    bool notified = true;  // false: watchers expired
  };
  Difference Replace(std::vector<EntryPtr> entries, Revision revision);

  // A batch of the store's watch.
  struct Outcome {
    size_t changes = 0;
    size_t repeated = 0;  // duplicates, which are ignored
    // Not empty: describes an event that contradicts the state. It and later events are not
    // applied.
    std::string inconsistency;
  };
  Outcome Apply(const WatchBatch& batch);

 private:
  using Changes = std::vector<ChangePtr>;

  enum class Fit : uint8_t { kNext, kRepeated, kContradicts };
  // `changes` are the changes of the same batch so far.
  Fit Classify(const Event& event, const Changes& changes) const COX_REQUIRES(mu_);
  ChangePtr ApplyEvent(const Event& event, EntryPtr entry) COX_REQUIRES(mu_);
  // Invalidates the published snapshot; readers create a new one on demand. Returns the old one, to
  // be freed without the lock.
  SnapshotPtr Unpublish(Revision revision) COX_REQUIRES(mu_);

  const EntryClassPtr type_;
  const HeadReader& head_reader_;
  const std::shared_ptr<ChangeLog> log_;
  HeadBuilder head_;  // for the updating thread only

  std::atomic<bool> ready_ = false;
  std::atomic<bool> ended_ = false;
  std::atomic<Revision> revision_ = 0;
  std::atomic<size_t> bytes_ = 0;
  std::atomic<size_t> objects_ = 0;
  // The number of times that the log was restarted: revisions before that may mean other states.
  std::atomic<uint64_t> generation_ = 0;
  mutable Published<const Snapshot> published_;  // null: none since the last change

  mutable Mutex mu_;
  CondVar advanced_;
  // Mutable: const methods share its nodes, which changes their owner but not their content.
  mutable KeyTree tree_ COX_GUARDED_BY(mu_);
  FieldIndex by_field_ COX_GUARDED_BY(mu_);

  PastStates past_{*log_};
};

}  // namespace cox::storage

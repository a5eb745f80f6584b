// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "storage/watchcache/change_log.h"
#include "storage/watchcache/snapshot.h"

namespace cox::storage {

// Past states of a watch cache, which the pages of paginated lists read again and again.
//
// A state that is not kept is built from the nearest kept or current state, by undoing or redoing
// the changes between the two. States are kept while the log has the changes since then, because
// meanwhile the log keeps the objects anyway: a state only adds its tree nodes. (When the log drops
// changes of a resource that no longer changes, states stay until the next change.) Two limits
// bound them; the least recently used states are dropped first.
//
// Memory: building a state copies at most one leaf of the tree per change, and never more than all
//   leaves, so `Limits::leaves` bounds the nodes of all states: about 1 KiB per leaf, with its part
//   of the inner nodes. In addition, states keep leaves that the current tree has replaced since:
//   at most one per change in the log.
// Threads: all methods may be called concurrently. States are built one at a time: callers that
//   need the same state share one build, and others can start from it.
class PastStates {
 public:
  struct Limits {
    size_t states = 256;
    size_t leaves = 65'536;  // copied to build the states
  };
  // `log` must outlive it.
  explicit PastStates(const ChangeLog& log) : PastStates(log, Limits()) {}
  PastStates(const ChangeLog& log, Limits limits) : log_(log), limits_(limits) {}

  // The state at `revision`, which must not be larger than that of `now`. Null if the log no longer
  // has all changes since then. A larger generation of `now` drops the states of earlier ones.
  SnapshotPtr At(Revision revision, const SnapshotPtr& now);
  // Drops the states from before the start of the log. Costs one lock if there are no states.
  void DropOld();

  // The number of states that are kept.
  size_t size() const;
  // The total number of changes that were undone or redone.
  uint64_t applied() const;

 private:
  struct State {
    SnapshotPtr snapshot;
    size_t leaves = 0;  // upper bound of the leaves that it does not share with its base
    Revision base = 0;  // the kept state that it was built from; 0: none
    uint64_t used = 0;  // when it was last used, as a count of uses
  };
  using States = std::map<Revision, State>;
  using Dropped = std::vector<SnapshotPtr>;  // freed after unlocking
  // The kept states before and after a revision. `after` may be the current state.
  struct Neighbors {
    SnapshotPtr before;  // null: none
    SnapshotPtr after;
  };

  // Null if it is not kept.
  SnapshotPtr Find(Revision revision, const Snapshot& now);
  Neighbors NeighborsOf(Revision revision, const SnapshotPtr& now) const;
  // Returns a state without `used`; nullopt if the log lacks changes.
  std::optional<State> Build(Revision revision, const SnapshotPtr& now);
  void Keep(const State& state);
  void Drop(States::iterator victim, Dropped& dropped) COX_REQUIRES(mu_);

  const ChangeLog& log_;
  const Limits limits_;

  Mutex build_mu_;  // held while a state is built; locked before mu_
  mutable Mutex mu_;
  States states_ COX_GUARDED_BY(mu_);
  size_t leaves_ COX_GUARDED_BY(mu_) = 0;  // of all states
  uint64_t generation_ COX_GUARDED_BY(mu_) = 0;
  uint64_t uses_ COX_GUARDED_BY(mu_) = 0;
  uint64_t applied_ COX_GUARDED_BY(mu_) = 0;
};

}  // namespace cox::storage

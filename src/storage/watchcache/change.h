// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/watchcache/entry.h"

namespace cox::storage {

enum class ChangeType : uint8_t { kAdded, kModified, kDeleted, kBookmark };

// One change as all watchers share it. For deletions `entry` is the last state with the revision of
// the deletion. `previous` decides what a selector makes of it: a change out of the selection is a
// deletion for that watcher.
struct Change {
  ChangeType type;
  EntryPtr entry;     // null for bookmarks
  EntryPtr previous;  // null for additions
  Revision revision = 0;
};
using ChangePtr = std::shared_ptr<const Change>;

// What a watcher looks at.
struct WatchOptions {
  std::string prefix;       // keys that begin with it
  bool exact = false;       // only the key that equals `prefix`
  Revision after = 0;       // changes with a larger revision
  bool wake_often = false;  // wake also when only Batch::revision has grown
  // Called when a watcher whose last Take() left nothing has more, from the thread that brought it,
  // without a lock of the cache's. It must be cheap: it notifies or enqueues. Once per Take(); not
  // before the first.
  std::function<void()> wake = {};
};

// A reader of changes with its own place in the log: it takes what it can when it can, and a slow
// one costs the others nothing.
//
// Begin with Take(): what there is already wakes nobody.
//
// Threads: one thread at a time; Take() may be called from inside `wake`.
// Ownership: may outlive its cache; then there is nothing new. Dropping it ends the waking: once
// the
//   destructor returned, `wake` does not run and will not run, unless it is dropped from inside
//   `wake`. So do not drop it while holding a lock that `wake` takes.
class Watcher {
 public:
  virtual ~Watcher() = default;

  struct Batch {
    std::vector<ChangePtr> changes;  // in order, of the watched prefix; selectors are the caller's
    Revision revision = 0;           // everything up to here was delivered, now or before
    bool more = false;               // there is more right now
    bool ended = false;              // the cache has ended: there will be no more
  };
  // Does not block. Expired: changes this watcher has not seen are gone, because it is too far
  // behind or because the cache had to begin anew. It stays so.
  virtual Result<Batch> Take(size_t max_changes) = 0;
};

}  // namespace cox::storage

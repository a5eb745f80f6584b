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

// One change, shared by all watchers. For a deletion, `entry` is the last state with the revision
// of the deletion. Selectors need `previous`: if a change moves an object out of the selection,
// that watcher receives a deletion.
struct Change {
  ChangeType type;
  EntryPtr entry;     // null for bookmarks
  EntryPtr previous;  // null for additions
  Revision revision = 0;
};
using ChangePtr = std::shared_ptr<const Change>;

// The keys and revisions that a watcher selects.
struct WatchOptions {
  std::string prefix;       // matches keys that begin with it
  bool exact = false;       // matches only the key that equals `prefix`
  Revision after = 0;       // changes with a larger revision
  bool wake_often = false;  // call `wake` also if only Batch::revision has grown
  // Not empty: matches only objects whose indexed field (HeadReader::indexed_field) has this value
  // before or after the change.
  std::string field_value = {};
  // Called when there are new changes for a watcher whose last Take() returned everything. Runs on
  // the thread that adds the changes, without a lock of the cache. It must be cheap: notify or
  // enqueue. Called at most once per Take(), and not before the first Take().
  std::function<void()> wake = {};
};

// A reader of changes with its own position in the log. A slow watcher does not affect others.
//
// Call Take() first: existing changes do not trigger `wake`.
//
// Threads: one thread at a time; Take() may be called from inside `wake`.
// Ownership: may outlive its cache; then there are no new changes. After the destructor has
//   returned, `wake` neither runs nor will run, unless the watcher is destroyed from inside `wake`.
//   So do not destroy it while holding a lock that `wake` takes.
class Watcher {
 public:
  virtual ~Watcher() = default;

  struct Batch {
    std::vector<ChangePtr> changes;  // in order, under the prefix; the caller applies selectors
    Revision revision = 0;           // everything up to here has been delivered
    bool more = false;               // more changes are available now
    bool ended = false;              // the cache has ended: no more changes will follow
  };
  // Does not block. Errors: Expired if changes that this watcher has not read were dropped, because
  // it is too slow or because the cache was rebuilt. All later calls return Expired too.
  virtual Result<Batch> Take(size_t max_changes) = 0;
};

}  // namespace cox::storage

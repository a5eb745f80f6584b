// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/store.h"

namespace cox::storage::internal {

// A sorted map with history: every write creates a revision, and every revision since the last
// compaction can still be read or replayed. This is the data structure of the memory store; it does
// no locking and has no clock.
//
// Two views of the same writes: `keys_` has, per key, its versions from old to new (for reading),
// `log_` all changes from old to new (for watching). Worked example, after Put(a), Put(b), Put(a),
// Delete(b):
//
//   keys_  a: [2, 4]   b: [3, 5 deleted]          log_  2 a, 3 b, 4 a, 5 b-
//
// After Compact(4):
//
//   keys_  a: [4]      b: [3, 5 deleted]          log_  4 a, 5 b-
//
// because revision 4 can still be read, and b has version 3 there. The change of revision 4 itself
// stays, as in etcd: a watch after 3 works, a watch after 2 is Expired.
//
// Threads: not thread-safe; the owner locks.
class History {
 public:
  History(size_t max_changes, size_t max_past_bytes)
      : max_changes_(max_changes), max_past_bytes_(max_past_bytes) {}

  Revision revision() const { return revision_; }
  Revision compacted() const { return compacted_; }

  // The current version; null if the key does not exist.
  const KeyValue* Find(std::string_view key) const;

  // Begin() starts a revision; all writes until the next Begin() belong to it.
  // REQUIRES: at most one write per key in a revision; Delete: the key exists.
  Revision Begin();
  void Put(std::string_view key, Bytes value);
  void Delete(std::string_view key);
  // Enforces the limits by compaction. Call it after the last write of a revision.
  void Trim();

  // Errors: Expired if `options.at` is compacted; Timeout (resource version too large) if it does
  //   not exist yet.
  Result<Page> List(std::string_view prefix, const ListOptions& options) const;
  Status CheckReadable(Revision at) const;

  // Appends the changes under `prefix` after revision `after`, whole revisions only, until at least
  // `enough` are found. Returns the revision up to which `out` is complete.
  // REQUIRES: CanReplay(after)
  Revision Replay(std::string_view prefix, Revision after, size_t enough,
                  std::vector<Event>& out) const;
  bool CanReplay(Revision after) const { return after + 1 >= compacted_; }

  // Errors: Expired if `revision` is already compacted; like CheckReadable() if it does not exist
  //   yet.
  Status Compact(Revision revision);

 private:
  struct Version {
    KeyValue kv;
    bool deleted = false;
  };
  using Versions = std::vector<Version>;
  using Keys = std::map<std::string, Versions, std::less<>>;
  struct Change {
    Revision revision;
    Keys::iterator key;  // stays valid: a key is erased only with its last change
    bool deleted;
    bool created;
    Bytes value;
  };

  static const Version* At(const Versions& versions, Revision at);
  void Append(Keys::iterator key, Version version, bool created);
  void CompactTo(Revision revision);
  // Drops the versions that are not visible at any readable revision.
  void Prune(Keys::iterator key);

  const size_t max_changes_;
  const size_t max_past_bytes_;
  Revision revision_ = 1;   // an empty etcd begins at 1
  Revision compacted_ = 0;  // the oldest readable revision, if not 0
  Keys keys_;
  std::deque<Change> log_;
  size_t past_bytes_ = 0;  // of values that are superseded or deleted
};

}  // namespace cox::storage::internal

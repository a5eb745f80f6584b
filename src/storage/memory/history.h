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

// A sorted map that remembers what it was: every write makes a revision, and each revision since
// the last compaction can still be read or replayed. The data structure of the memory store; it
// knows neither time nor threads.
//
// Two views of the same writes: `keys_` has, per key, its versions from old to new (for reading),
// `log_` all changes from old to new (for watching). Worked example, after Put(a), Put(b), Put(a),
// Delete(b):
//
//   keys_  a: [2, 4]   b: [3, 5 deleted]          log_  2 a, 3 b, 4 a, 5 b-
//
// Compact(4) makes it
//
//   keys_  a: [4]      b: [3, 5 deleted]          log_  4 a, 5 b-
//
// because revision 4 can still be read, where b has the version 3. The change of revision 4 itself
// stays, as etcd keeps it: a watch after 3 works, one after 2 is Expired.
//
// Threads: none of its own; the owner locks.
class History {
 public:
  History(size_t max_changes, size_t max_past_bytes)
      : max_changes_(max_changes), max_past_bytes_(max_past_bytes) {}

  Revision revision() const { return revision_; }
  Revision compacted() const { return compacted_; }

  // The current version; null if there is no such key.
  const KeyValue* Find(std::string_view key) const;

  // Writes belong to a revision which Begin() starts; all until the next Begin() share it.
  // REQUIRES: no two writes of one key in one revision; for Delete that the key exists.
  Revision Begin();
  void Put(std::string_view key, Bytes value);
  void Delete(std::string_view key);
  // Holds the limits by compacting. To be called after the last write of a revision.
  void Trim();

  // Expired if `options.at` is compacted; Timeout (too large a resource version) if it is to come.
  Result<Page> List(std::string_view prefix, const ListOptions& options) const;
  Status CheckReadable(Revision at) const;

  // Appends the changes under `prefix` of revisions after `after`, whole revisions only, until at
  // least `enough` were found. Returns the revision up to which nothing is missing.
  // REQUIRES: CanReplay(after)
  Revision Replay(std::string_view prefix, Revision after, size_t enough,
                  std::vector<Event>& out) const;
  bool CanReplay(Revision after) const { return after + 1 >= compacted_; }

  // Expired if that is done already, as CheckReadable() if it is to come.
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
  // Drops the versions that no readable revision shows any more.
  void Prune(Keys::iterator key);

  const size_t max_changes_;
  const size_t max_past_bytes_;
  Revision revision_ = 1;   // of an empty etcd
  Revision compacted_ = 0;  // the oldest that can be read, if not 0
  Keys keys_;
  std::deque<Change> log_;
  size_t past_bytes_ = 0;  // of values that are not current
};

}  // namespace cox::storage::internal

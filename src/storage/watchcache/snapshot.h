// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "storage/watchcache/entry.h"
#include "storage/watchcache/key_tree.h"

namespace cox::storage {

// All objects of a resource at one revision, sorted by key. Immutable; keeps its objects alive.
// Threads: all methods may be called concurrently, without a lock.
class Snapshot {
 public:
  Snapshot(KeyTree tree, Revision revision, uint64_t generation = 0)
      : tree_(std::move(tree)), revision_(revision), generation_(generation) {}

  Revision revision() const { return revision_; }
  size_t size() const { return tree_.size(); }
  // Null if the key does not exist.
  EntryPtr Find(std::string_view key) const { return tree_.Find(key); }
  // Visits entries with `prefix`, from `start` (inclusive, may be empty) in key order, until
  // `visit` returns false.
  void Visit(std::string_view prefix, std::string_view start,
             const std::function<bool(const EntryPtr&)>& visit) const {
    tree_.Visit(prefix, start, visit);
  }
  // The number of keys that begin with `prefix` and are not less than `start`, as used for
  // remainingItemCount of paginated lists. O(log n).
  size_t Count(std::string_view prefix, std::string_view start = {}) const {
    return tree_.Count(prefix, start);
  }

  // For the cache only.
  const KeyTree& tree() const { return tree_; }
  uint64_t generation() const { return generation_; }

 private:
  const KeyTree tree_;
  const Revision revision_;
  const uint64_t generation_;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// Some objects of a resource at one revision, sorted by key.
struct Selection {
  std::vector<EntryPtr> entries;
  Revision revision = 0;
};

}  // namespace cox::storage

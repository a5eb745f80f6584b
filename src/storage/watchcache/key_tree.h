// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "storage/watchcache/entry.h"

namespace cox::storage {

// Entries sorted by key, with snapshots in O(1).
//
// A persistent B+ tree whose nodes are shared between versions. Share() returns the current
// version; later changes copy the nodes on the path to the leaf (three or four, of at most 32
// children), and only them. Nodes created since the last Share() are not shared and are changed in
// place: a thousand changes between two Share() calls copy each node once.
//
// Inner nodes contain the number of entries below them, so that ranks are O(log n).
//
// Threads: const methods may be called concurrently, also on the result of Share() while the
//   original changes. Other methods by one thread at a time.
class KeyTree {
 public:
  KeyTree() = default;
  KeyTree(KeyTree&&) = default;
  KeyTree& operator=(KeyTree&&) = default;
  // Builds a tree from entries in strictly increasing key order: denser and faster than insertions.
  static KeyTree FromSorted(const std::vector<EntryPtr>& entries);

  // The current version, which later changes do not affect.
  KeyTree Share();
  // A mutable copy; changes do not affect this tree.
  KeyTree Fork() const;

  size_t size() const;
  EntryPtr Find(std::string_view key) const;
  void Visit(std::string_view prefix, std::string_view start,
             const std::function<bool(const EntryPtr&)>& visit) const;
  // Counts keys that begin with `prefix` and are not less than `start`.
  size_t Count(std::string_view prefix, std::string_view start = {}) const;

  // Put and Erase return the previous entry of the key, or null.
  EntryPtr Put(EntryPtr entry);
  EntryPtr Erase(std::string_view key);

 private:
  struct Node;
  struct Leaf;
  struct Inner;
  struct Editor;
  using NodePtr = std::shared_ptr<Node>;

  // The number of keys less than `key`.
  size_t Rank(std::string_view key) const;

  NodePtr root_;        // null: empty
  uint64_t epoch_ = 0;  // nodes of this epoch are not shared; 0: nothing changed yet
};

// The first key after all keys that begin with `prefix`; empty if there is none.
std::string PrefixEnd(std::string_view prefix);

}  // namespace cox::storage

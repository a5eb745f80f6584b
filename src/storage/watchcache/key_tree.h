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

// Entries in the order of their keys, of which one can keep the state of any moment at the price of
// a pointer.
//
// A B+ tree whose nodes are shared by the states that have them in common. Share() gives a state
// away; from then on a change copies the nodes on its way down (three or four, of at most 32
// children), and only them. Nodes that were made since are nobody else's and changed in place: a
// thousand changes between two Share() calls copy each node once.
//
// Inner nodes count what is below them, so that ranks are O(log n).
//
// Threads: const methods may be called concurrently, also on a copy that Share() gave while the
//   original changes. The others by one thread at a time.
class KeyTree {
 public:
  KeyTree() = default;
  KeyTree(KeyTree&&) = default;
  KeyTree& operator=(KeyTree&&) = default;
  // Made from entries in strictly rising order of their keys: denser and faster than insertions.
  static KeyTree FromSorted(const std::vector<EntryPtr>& entries);

  // The state as it is now, which later changes do not touch.
  KeyTree Share();
  // A state to change, without touching this one.
  KeyTree Fork() const;

  size_t size() const;
  EntryPtr Find(std::string_view key) const;
  void Visit(std::string_view prefix, std::string_view start,
             const std::function<bool(const EntryPtr&)>& visit) const;
  // Keys that begin with `prefix` and are not below `start`.
  size_t Count(std::string_view prefix, std::string_view start = {}) const;

  // Returns what was there under the key, or null.
  EntryPtr Put(EntryPtr entry);
  EntryPtr Erase(std::string_view key);

 private:
  struct Node;
  struct Leaf;
  struct Inner;
  struct Editor;
  using NodePtr = std::shared_ptr<Node>;

  // How many keys are below `key`.
  size_t Rank(std::string_view key) const;

  NodePtr root_;        // null: empty
  uint64_t epoch_ = 0;  // nodes of this epoch are nobody else's; 0: has changed nothing yet
};

// The first key after all that begin with `prefix`; empty if there is none.
std::string PrefixEnd(std::string_view prefix);

}  // namespace cox::storage

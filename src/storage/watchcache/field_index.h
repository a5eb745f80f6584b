// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_hash.h"
#include "storage/watchcache/entry.h"

namespace cox::storage {

// The entries of a resource by the value of its indexed field. Entries without a value are not in
// the index: no client selects by it often, and they can be many (Pods that are not bound yet).
// Entries that cannot be read (storage/unreadable.h) may have any value and are found by every one,
// so that a list fails instead of being incomplete.
//
// Cost: a change costs a binary search among the entries with the same value and moves those behind
// it, so values should be shared by hundreds of entries, not by all.
// Threads: not synchronized.
class FieldIndex {
 public:
  // Replaces the content by `entries`, which are sorted by key.
  void Reset(const std::vector<EntryPtr>& entries);
  // Replaces `previous` by `entry`, which has the same key. Either may be null.
  void Change(const EntryPtr& previous, const EntryPtr& entry);
  // Sorted by key.
  std::vector<EntryPtr> Find(std::string_view value) const;

 private:
  using Group = std::vector<EntryPtr>;  // sorted by key

  // The group that contains the entry, or that it has to be added to. Null: none.
  Group* GroupOf(const EntryPtr& entry);

  std::unordered_map<std::string, Group, StringHash, std::equal_to<>> entries_;
  Group unreadable_;
};

}  // namespace cox::storage

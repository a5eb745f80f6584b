// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/watchcache/entry.h"

namespace cox::storage {

// The entries of a resource by the value of its indexed field. Entries without a value are not in
// the index: no client selects by it often, and they can be many (Pods that are not bound yet).
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
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::vector<EntryPtr>, Hash, std::equal_to<>> entries_;
};

}  // namespace cox::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/field_index.h"

#include <algorithm>

namespace cox::storage {
namespace {

// The position of the key, or where it belongs.
template <class Entries>
auto PositionOf(Entries& entries, std::string_view key) {
  return std::lower_bound(
      entries.begin(), entries.end(), key,
      [](const EntryPtr& entry, std::string_view key) { return entry->key() < key; });
}

}  // namespace

void FieldIndex::Reset(const std::vector<EntryPtr>& entries) {
  entries_.clear();
  for (const EntryPtr& entry : entries) {
    const std::string_view value = entry->indexed_value();
    if (!value.empty()) entries_[std::string(value)].push_back(entry);
  }
}

void FieldIndex::Change(const EntryPtr& previous, const EntryPtr& entry) {
  const std::string_view before = previous == nullptr ? "" : previous->indexed_value();
  const std::string_view now = entry == nullptr ? "" : entry->indexed_value();
  if (!before.empty()) {
    const auto found = entries_.find(before);
    std::vector<EntryPtr>& same = found->second;
    const auto at = PositionOf(same, previous->key());
    if (before == now) {
      *at = entry;
      return;
    }
    same.erase(at);
    if (same.empty()) entries_.erase(found);
  }
  if (now.empty()) return;
  std::vector<EntryPtr>& same = entries_[std::string(now)];
  same.insert(PositionOf(same, entry->key()), entry);
}

std::vector<EntryPtr> FieldIndex::Find(std::string_view value) const {
  const auto found = entries_.find(value);
  return found == entries_.end() ? std::vector<EntryPtr>() : found->second;
}

}  // namespace cox::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/field_index.h"

#include <algorithm>
#include <iterator>

#include "storage/unreadable.h"

namespace cox::storage {
namespace {

// The position of the key, or where it belongs.
template <class Entries>
auto PositionOf(Entries& entries, std::string_view key) {
  return std::lower_bound(
      entries.begin(), entries.end(), key,
      [](const EntryPtr& entry, std::string_view key) { return entry->key() < key; });
}

bool KeyLess(const EntryPtr& a, const EntryPtr& b) { return a->key() < b->key(); }

}  // namespace

FieldIndex::Group* FieldIndex::GroupOf(const EntryPtr& entry) {
  if (entry == nullptr) return nullptr;
  const std::string_view value = entry->indexed_value();
  if (value.empty()) return WhyUnreadable(entry->stored()) ? &unreadable_ : nullptr;
  const auto found = entries_.find(value);
  return found == entries_.end() ? &entries_[std::string(value)] : &found->second;
}

void FieldIndex::Reset(const std::vector<EntryPtr>& entries) {
  entries_.clear();
  unreadable_.clear();
  for (const EntryPtr& entry : entries) {
    if (Group* const group = GroupOf(entry)) group->push_back(entry);
  }
}

void FieldIndex::Change(const EntryPtr& previous, const EntryPtr& entry) {
  Group* const before = GroupOf(previous);
  Group* const now = GroupOf(entry);
  if (before != nullptr) {
    const auto at = PositionOf(*before, previous->key());
    if (before == now) {
      *at = entry;
      return;
    }
    before->erase(at);
    if (before->empty() && before != &unreadable_) {
      entries_.erase(entries_.find(previous->indexed_value()));
    }
  }
  if (now != nullptr) now->insert(PositionOf(*now, entry->key()), entry);
}

std::vector<EntryPtr> FieldIndex::Find(std::string_view value) const {
  const auto group = entries_.find(value);
  if (group == entries_.end()) return unreadable_;
  if (unreadable_.empty()) return group->second;
  Group found;
  std::merge(group->second.begin(), group->second.end(), unreadable_.begin(), unreadable_.end(),
             std::back_inserter(found), KeyLess);
  return found;
}

}  // namespace cox::storage

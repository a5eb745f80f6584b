// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cox {

// An LRU cache keyed by string, with at most `limit` entries.
//
// Pointers are valid until the next Put or Erase.
// Threads: not synchronized.
template <class T>
class LruMap {
 public:
  // REQUIRES: limit > 0
  explicit LruMap(size_t limit) : limit_(limit) {}

  size_t size() const { return entries_.size(); }
  // Null if absent. Marks the entry as used.
  T* Find(std::string_view key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->value;
  }
  // Replaces an existing entry.
  T* Put(std::string key, T value) {
    Erase(key);
    if (entries_.size() >= limit_) Erase(entries_.back().key);
    entries_.push_front({std::move(key), std::move(value)});
    index_.emplace(entries_.front().key, entries_.begin());
    return &entries_.front().value;
  }
  void Erase(std::string_view key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    const auto entry = found->second;
    index_.erase(found);  // first: its key refers to the entry's
    entries_.erase(entry);
  }

 private:
  struct Entry {
    std::string key;
    T value;
  };

  const size_t limit_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string_view, typename std::list<Entry>::iterator> index_;
};

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cox {

// A map from string to V, kept as one sorted vector: the maps of API objects (labels, annotations,
// resource lists) are small, are read far more than changed, and are always written in key order.
//
// Costs: lookup by binary search, insert and erase O(n), one allocation for all entries.
// Iterates as `for (const auto& [key, value] : map)`, in key order.
template <class V>
class Map {
 public:
  struct Entry {
    std::string first;
    V second;
  };
  using iterator = typename std::vector<Entry>::iterator;
  using const_iterator = typename std::vector<Entry>::const_iterator;

  Map() = default;
  Map(std::initializer_list<Entry> entries) : entries_(entries) { Seal(); }

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  void clear() { entries_.clear(); }
  void reserve(size_t n) { entries_.reserve(n); }

  const_iterator find(std::string_view key) const {
    auto at = LowerBound(key);
    return at != end() && at->first == key ? at : end();
  }
  bool contains(std::string_view key) const { return find(key) != end(); }
  // The value at `key`, or null.
  const V* Get(std::string_view key) const {
    auto at = find(key);
    return at == end() ? nullptr : &at->second;
  }
  V* Get(std::string_view key) { return const_cast<V*>(std::as_const(*this).Get(key)); }

  // The value at `key`, made first where there was none.
  V& operator[](std::string_view key) {
    auto at = LowerBound(key);
    if (at != end() && at->first == key) return entries_[at - begin()].second;
    return entries_.insert(at, Entry{std::string(key), V{}})->second;
  }
  // True if there was such a key.
  bool erase(std::string_view key) {
    auto at = find(key);
    if (at == end()) return false;
    entries_.erase(at);
    return true;
  }

  // For decoders: entries in any order, then Seal() once, which sorts them. Where a key came more
  // than once the last stays; returns false then.
  V& Append(std::string key) {
    entries_.push_back(Entry{std::move(key), V{}});
    return entries_.back().second;
  }
  bool Seal() {
    auto not_rising = [](const Entry& a, const Entry& b) { return !(a.first < b.first); };
    if (std::adjacent_find(entries_.begin(), entries_.end(), not_rising) == entries_.end())
      return true;
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.first < b.first; });
    size_t kept = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (i + 1 < entries_.size() && entries_[i + 1].first == entries_[i].first) continue;
      if (kept != i) entries_[kept] = std::move(entries_[i]);
      ++kept;
    }
    bool unique = kept == entries_.size();
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(kept), entries_.end());
    return unique;
  }

 private:
  const_iterator LowerBound(std::string_view key) const {
    return std::lower_bound(begin(), end(), key,
                            [](const Entry& e, std::string_view k) { return e.first < k; });
  }

  std::vector<Entry> entries_;
};

}  // namespace cox

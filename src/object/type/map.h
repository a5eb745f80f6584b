// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "object/type/list.h"

COX_BEGIN_ITEM_OPS
namespace cox {

// The part of a Map that does not depend on the type of its values. The entries are sorted by key;
// the key is a std::string at the start of the entry. `ops` are those of the entries.
class MapBase {
 public:
  // The first entry whose key is not less than `key`.
  static size_t LowerBound(const ItemOps& ops, const ListBase& entries, std::string_view key);
  // The entry with this key, or null.
  static void* Find(const ItemOps& ops, const ListBase& entries, std::string_view key);
  // The entry with this key, which is inserted if it does not exist.
  static void* Ensure(const ItemOps& ops, ListBase& entries, std::string_view key);
  static bool Erase(const ItemOps& ops, ListBase& entries, std::string_view key);
  // Appends an entry without regard to the order.
  static void* Append(const ItemOps& ops, ListBase& entries, std::string_view key);
  static bool Seal(const ItemOps& ops, ListBase& entries);
};

// A map from string to V, stored as one sorted List: the maps of API objects (labels, annotations,
// resource lists) are small, are read far more often than changed, and are always encoded in key
// order.
//
// Costs: lookup by binary search, insert and erase O(n), one allocation for all entries. Compiled
// once, as List is: see there. Iterates as `for (const auto& [key, value] : map)`, in key order.
template <class V>
class Map {
 public:
  struct Entry {
    std::string first;
    V second;

    bool operator==(const Entry& other) const = default;
  };
  using value_type = Entry;
  using iterator = Entry*;
  using const_iterator = const Entry*;

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
    const void* const found = MapBase::Find(kOps, entries_, key);
    return found != nullptr ? static_cast<const Entry*>(found) : end();
  }
  bool contains(std::string_view key) const {
    return MapBase::Find(kOps, entries_, key) != nullptr;
  }
  // The value at `key`, or null.
  const V* Get(std::string_view key) const {
    const void* const found = MapBase::Find(kOps, entries_, key);
    return found != nullptr ? &static_cast<const Entry*>(found)->second : nullptr;
  }
  V* Get(std::string_view key) { return const_cast<V*>(std::as_const(*this).Get(key)); }

  // The value at `key`, inserted if it does not exist.
  V& operator[](std::string_view key) {
    return static_cast<Entry*>(MapBase::Ensure(kOps, entries_, key))->second;
  }
  // Returns true if the key existed.
  bool erase(std::string_view key) { return MapBase::Erase(kOps, entries_, key); }

  // For decoders: append entries in any order, then call Seal() once, which sorts them. Of
  // duplicate keys the last one is kept; Seal() returns false then.
  V& Append(std::string_view key) {
    return static_cast<Entry*>(MapBase::Append(kOps, entries_, key))->second;
  }
  bool Seal() { return MapBase::Seal(kOps, entries_); }

  bool operator==(const Map& other) const { return entries_ == other.entries_; }

 private:
  static constexpr const ItemOps& kOps = Items<Entry>::kOps;

  List<Entry> entries_;
};

}  // namespace cox
COX_END_ITEM_OPS

// SPDX-License-Identifier: Apache-2.0
#include "object/type/map.h"

#include <algorithm>
#include <vector>

namespace cox {
namespace {

char* At(const ItemOps& ops, const ListBase& entries, size_t index) {
  return static_cast<char*>(entries.erased_data()) + index * ops.size;
}

const std::string& KeyAt(const ItemOps& ops, const ListBase& entries, size_t index) {
  return *reinterpret_cast<const std::string*>(At(ops, entries, index));
}

bool IsAscending(const ItemOps& ops, const ListBase& entries) {
  for (size_t i = 1; i < entries.size(); ++i) {
    if (!(KeyAt(ops, entries, i - 1) < KeyAt(ops, entries, i))) return false;
  }
  return true;
}

}  // namespace

size_t MapBase::LowerBound(const ItemOps& ops, const ListBase& entries, std::string_view key) {
  size_t first = 0;
  size_t count = entries.size();
  while (count > 0) {
    const size_t half = count / 2;
    if (KeyAt(ops, entries, first + half) < key) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

void* MapBase::Find(const ItemOps& ops, const ListBase& entries, std::string_view key) {
  const size_t index = LowerBound(ops, entries, key);
  if (index == entries.size() || KeyAt(ops, entries, index) != key) return nullptr;
  return At(ops, entries, index);
}

void* MapBase::Ensure(const ItemOps& ops, ListBase& entries, std::string_view key) {
  const size_t index = LowerBound(ops, entries, key);
  if (index < entries.size() && KeyAt(ops, entries, index) == key) return At(ops, entries, index);
  std::string own(key);  // `key` may be part of an entry that is about to move
  void* const entry = entries.Insert(ops, index);
  *static_cast<std::string*>(entry) = std::move(own);
  return entry;
}

bool MapBase::Erase(const ItemOps& ops, ListBase& entries, std::string_view key) {
  const size_t index = LowerBound(ops, entries, key);
  if (index == entries.size() || KeyAt(ops, entries, index) != key) return false;
  entries.Erase(ops, index, 1);
  return true;
}

void* MapBase::Append(const ItemOps& ops, ListBase& entries, std::string_view key) {
  void* const entry = entries.Append(ops);
  *static_cast<std::string*>(entry) = key;
  return entry;
}

bool MapBase::Seal(const ItemOps& ops, ListBase& entries) {
  if (IsAscending(ops, entries)) return true;
  std::vector<size_t> order(entries.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return KeyAt(ops, entries, a) < KeyAt(ops, entries, b);
  });
  // The last of several entries with the same key is kept.
  size_t kept = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_last =
        i + 1 == order.size() || KeyAt(ops, entries, order[i]) != KeyAt(ops, entries, order[i + 1]);
    if (is_last) order[kept++] = order[i];
  }
  const bool is_unique = kept == order.size();
  order.resize(kept);
  entries.Keep(ops, order);
  return is_unique;
}

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "object/type/name_index.h"

namespace cox {

// The contents of a NameIndex, created by BuildNameIndex.
struct NameIndexParts {
  uint64_t seed = 0;
  uint32_t mask = 0;
  std::vector<uint16_t> slots;  // mask + 1 slots; empty if there are no names
  // Each name is in the slot of its hash. False if that is not possible (two long names that differ
  // only in the middle, or thousands of names): then a name may be in a later slot (linear
  // probing).
  bool perfect = true;
};

// Builds the table of a NameIndex for `names`, with row numbers 0, 1, ... The number of slots is a
// power of two, at least twice the number of names, and grows until there is a seed without
// collisions.
//
// Guarantees: deterministic; every name can be found; at most 64 slots per name (and 1024).
// REQUIRES: unique names, fewer than 65535.
inline NameIndexParts BuildNameIndex(std::span<const std::string_view> names) {
  // More seeds make smaller tables: a table of n*n/14 slots needs about 1000 attempts.
  constexpr uint64_t kSeedsPerSize = 1024;
  constexpr size_t kMaxSlotsPerName = 64;
  constexpr size_t kSmall = 1024;

  NameIndexParts parts;
  if (names.empty()) return parts;
  size_t smallest = 2;
  while (smallest < 2 * names.size()) smallest *= 2;
  const size_t largest = std::max(kSmall, kMaxSlotsPerName * names.size());

  auto place = [&](uint64_t seed, bool probe) {
    std::fill(parts.slots.begin(), parts.slots.end(), NameIndex::kNone);
    for (size_t row = 0; row < names.size(); ++row) {
      uint32_t at = NameIndex::Hash(names[row], seed) & parts.mask;
      while (parts.slots[at] != NameIndex::kNone) {
        if (!probe) return false;
        at = (at + 1) & parts.mask;
      }
      parts.slots[at] = static_cast<uint16_t>(row);
    }
    return true;
  };
  auto resize = [&](size_t size) {
    parts.mask = static_cast<uint32_t>(size - 1);
    parts.slots.assign(size, NameIndex::kNone);
  };

  // Names that collide for two seeds collide for all, so the search is skipped.
  bool distinct = true;
  for (uint64_t seed : {uint64_t{1}, uint64_t{0x5851f42d4c957f2d}}) {
    std::vector<uint32_t> hashes(names.size());
    std::transform(names.begin(), names.end(), hashes.begin(),
                   [&](std::string_view name) { return NameIndex::Hash(name, seed); });
    std::sort(hashes.begin(), hashes.end());
    distinct = std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end();
    if (distinct) break;
  }
  for (size_t size = smallest; distinct && size <= largest; size *= 2) {
    resize(size);
    for (parts.seed = 1; parts.seed <= kSeedsPerSize; ++parts.seed) {
      if (place(parts.seed, false)) return parts;
    }
  }
  resize(smallest);
  parts.seed = 1;
  parts.perfect = false;
  place(parts.seed, true);
  return parts;
}

}  // namespace cox

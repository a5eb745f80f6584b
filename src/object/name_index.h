// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace cox {

// Finds a name in a fixed set with one hash and one comparison: a perfect hash, whose seed
// tools/gen (or RuntimeType) searches for when it makes the table.
struct NameIndex {
  static constexpr uint16_t kNone = 0xffff;

  uint64_t seed = 0;
  uint32_t mask = 0;                // slots - 1, a power of two less one
  const uint16_t* slots = nullptr;  // row numbers, or kNone

  // Looks at the first and last eight bytes and the length: enough to tell field names apart.
  static uint32_t Hash(std::string_view name, uint64_t seed) {
    uint64_t first = 0;
    uint64_t last = 0;
    size_t n = name.size();
    const char* p = name.data();
    if (n >= 8) {
      std::memcpy(&first, p, 8);
      std::memcpy(&last, p + n - 8, 8);
    } else if (n >= 4) {
      std::memcpy(&first, p, 4);
      std::memcpy(&last, p + n - 4, 4);
    } else if (n > 0) {
      first = static_cast<uint8_t>(p[0]) | static_cast<uint64_t>(static_cast<uint8_t>(p[n / 2]))
                                               << 8;
      last = static_cast<uint8_t>(p[n - 1]);
    }
    uint64_t h = (first ^ seed) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29) ^ last) * 0xbf58476d1ce4e5b9u + n;
    return static_cast<uint32_t>((h * 0x94d049bb133111ebu) >> 32);
  }

  // The row whose name equals `name`, or -1; `name_at(row)` gives a row's name. In a perfect table
  // the first slot decides; a table that is not goes on to the next empty one.
  template <class NameAt>
  int Find(std::string_view name, NameAt name_at) const {
    if (slots == nullptr) return -1;
    for (uint32_t at = Hash(name, seed) & mask;; at = (at + 1) & mask) {
      uint16_t row = slots[at];
      if (row == kNone) return -1;
      if (name_at(row) == name) return row;
    }
  }
};

}  // namespace cox

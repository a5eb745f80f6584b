// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace cox {

// Finds a name in a fixed set with one hash and one comparison: a perfect hash, whose seed is
// computed by tools/gen (or RuntimeType) when it creates the table.
struct NameIndex {
  static constexpr uint16_t kNone = 0xffff;

  uint64_t seed = 0;
  uint32_t mask = 0;                // slots - 1, a power of two less one
  const uint16_t* slots = nullptr;  // row numbers, or kNone

  static uint64_t Word(const char* at) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
  }

  // Uses the first and last eight bytes and the length, which distinguish most field names.
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

  // a == b, without a function call for usual name lengths.
  static bool Same(std::string_view a, std::string_view b) {
    size_t n = a.size();
    if (n != b.size()) return false;
    if (n < 8 || n > 16) return a == b;
    return Word(a.data()) == Word(b.data()) && Word(a.data() + n - 8) == Word(b.data() + n - 8);
  }

  // The row whose name equals `name`, or -1; `name_at(row)` returns the name of a row. In a perfect
  // table the first slot is sufficient; other tables use linear probing.
  template <class NameAt>
  int Find(std::string_view name, NameAt name_at) const {
    if (slots == nullptr) return -1;
    for (uint32_t at = Hash(name, seed) & mask;; at = (at + 1) & mask) {
      uint16_t row = slots[at];
      if (row == kNone) return -1;
      if (Same(name_at(row), name)) return row;
    }
  }
};

}  // namespace cox

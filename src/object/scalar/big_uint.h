// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cox {

// An unsigned integer of any length, for the rare Quantity that exceeds int64. Not for general
// arithmetic.
//
// Stored in decimal limbs, because quantities are parsed, scaled by powers of ten and printed in
// decimal. So every operation has linear cost in the number of digits, also for malicious input.
class BigUint {
 public:
  BigUint() = default;  // zero
  explicit BigUint(uint64_t value);
  // REQUIRES: only digits
  explicit BigUint(std::string_view digits);

  bool IsZero() const { return limbs_.empty(); }
  size_t DigitCount() const;  // 0 for zero
  std::optional<uint64_t> AsUint64() const;
  std::string ToString() const;  // "" for zero

  void Add(const BigUint& other);
  // REQUIRES: *this >= other
  void Sub(const BigUint& other);
  void MulSmall(uint32_t factor);
  void MulPow10(size_t power);
  // Returns the remainder.
  uint32_t DivSmall(uint32_t divisor);
  // Rounds up.
  void CeilDivPow10(size_t power);

  std::strong_ordering operator<=>(const BigUint& other) const;
  bool operator==(const BigUint& other) const = default;

 private:
  void Trim();

  std::vector<uint32_t> limbs_;  // base 10^9, lowest first, no leading zero
};

}  // namespace cox

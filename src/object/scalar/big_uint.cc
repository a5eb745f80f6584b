// SPDX-License-Identifier: Apache-2.0
#include "object/scalar/big_uint.h"

#include <algorithm>
#include <array>

namespace cox {
namespace {

constexpr uint32_t kBase = 1'000'000'000;
constexpr size_t kLimbDigits = 9;
constexpr std::array<uint32_t, kLimbDigits> kPow10 = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

}  // namespace

BigUint::BigUint(uint64_t value) {
  for (; value != 0; value /= kBase) limbs_.push_back(static_cast<uint32_t>(value % kBase));
}

BigUint::BigUint(std::string_view digits) {
  limbs_.reserve(digits.size() / kLimbDigits + 1);
  for (size_t end = digits.size(); end > 0;) {
    size_t begin = end > kLimbDigits ? end - kLimbDigits : 0;
    uint32_t limb = 0;
    for (size_t i = begin; i < end; ++i) limb = limb * 10 + static_cast<uint32_t>(digits[i] - '0');
    limbs_.push_back(limb);
    end = begin;
  }
  Trim();
}

void BigUint::Trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
}

size_t BigUint::DigitCount() const {
  if (limbs_.empty()) return 0;
  size_t top = 1;
  while (top < kLimbDigits && limbs_.back() >= kPow10[top]) ++top;
  return (limbs_.size() - 1) * kLimbDigits + top;
}

std::optional<uint64_t> BigUint::AsUint64() const {
  if (limbs_.size() > 3) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = limbs_.size(); i-- > 0;) {
    if (__builtin_mul_overflow(value, uint64_t{kBase}, &value) ||
        __builtin_add_overflow(value, uint64_t{limbs_[i]}, &value)) {
      return std::nullopt;
    }
  }
  return value;
}

std::string BigUint::ToString() const {
  std::string out(DigitCount(), '0');
  size_t at = out.size();
  for (uint32_t limb : limbs_) {
    for (size_t i = 0; i < kLimbDigits && at > 0; ++i, limb /= 10) {
      out[--at] = static_cast<char>('0' + limb % 10);
    }
  }
  return out;
}

void BigUint::Add(const BigUint& other) {
  limbs_.resize(std::max(limbs_.size(), other.limbs_.size()) + 1, 0);
  uint32_t carry = 0;
  for (size_t i = 0; i < limbs_.size(); ++i) {
    uint32_t sum = limbs_[i] + carry + (i < other.limbs_.size() ? other.limbs_[i] : 0);
    carry = sum >= kBase ? 1 : 0;
    limbs_[i] = sum - carry * kBase;
  }
  Trim();
}

void BigUint::Sub(const BigUint& other) {
  uint32_t borrow = 0;
  for (size_t i = 0; i < limbs_.size(); ++i) {
    uint32_t take = borrow + (i < other.limbs_.size() ? other.limbs_[i] : 0);
    borrow = limbs_[i] < take ? 1 : 0;
    limbs_[i] = limbs_[i] + borrow * kBase - take;
  }
  Trim();
}

void BigUint::MulSmall(uint32_t factor) {
  uint64_t carry = 0;
  for (uint32_t& limb : limbs_) {
    uint64_t product = uint64_t{limb} * factor + carry;
    limb = static_cast<uint32_t>(product % kBase);
    carry = product / kBase;
  }
  for (; carry != 0; carry /= kBase) limbs_.push_back(static_cast<uint32_t>(carry % kBase));
  Trim();
}

void BigUint::MulPow10(size_t power) {
  if (limbs_.empty()) return;
  if (power % kLimbDigits != 0) MulSmall(kPow10[power % kLimbDigits]);
  limbs_.insert(limbs_.begin(), power / kLimbDigits, 0);
}

uint32_t BigUint::DivSmall(uint32_t divisor) {
  uint64_t remainder = 0;
  for (size_t i = limbs_.size(); i-- > 0;) {
    uint64_t part = remainder * kBase + limbs_[i];
    limbs_[i] = static_cast<uint32_t>(part / divisor);
    remainder = part % divisor;
  }
  Trim();
  return static_cast<uint32_t>(remainder);
}

void BigUint::CeilDivPow10(size_t power) {
  if (limbs_.empty()) return;
  size_t whole = std::min(power / kLimbDigits, limbs_.size());
  bool exact = std::all_of(limbs_.begin(), limbs_.begin() + static_cast<ptrdiff_t>(whole),
                           [](uint32_t limb) { return limb == 0; });
  limbs_.erase(limbs_.begin(), limbs_.begin() + static_cast<ptrdiff_t>(whole));
  if (DivSmall(kPow10[power % kLimbDigits]) != 0) exact = false;
  if (!exact) Add(BigUint(uint64_t{1}));
}

std::strong_ordering BigUint::operator<=>(const BigUint& other) const {
  if (limbs_.size() != other.limbs_.size()) return limbs_.size() <=> other.limbs_.size();
  return std::lexicographical_compare_three_way(limbs_.rbegin(), limbs_.rend(),
                                                other.limbs_.rbegin(), other.limbs_.rend());
}

}  // namespace cox

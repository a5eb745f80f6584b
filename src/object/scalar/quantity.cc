// SPDX-License-Identifier: Apache-2.0
#include "object/scalar/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "object/scalar/big_uint.h"

namespace cox {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

// Above this number of zeros, a sum drops the smaller operand and an exponent is printed instead of
// a suffix, so that 1 + 1e1000000000 does not need a gigabyte.
constexpr int64_t kMaxZeros = 4096;

constexpr std::array<int64_t, 19> kPow10 = [] {
  std::array<int64_t, 19> powers{};
  int64_t power = 1;
  for (int64_t& p : powers) {
    p = power;
    if (power <= kMax / 10) power *= 10;
  }
  return powers;
}();

uint64_t Magnitude(int64_t value) {
  return value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

int64_t DigitCount(uint64_t value) {
  int64_t digits = 0;
  for (; value != 0; value /= 10) ++digits;
  return digits;
}

// mantissa * 10^from in units of 10^to, where from >= to; false if it exceeds int64.
bool Shift(int64_t mantissa, int32_t from, int32_t to, int64_t* out) {
  const int64_t power = int64_t{from} - to;
  return power <= 18 && !__builtin_mul_overflow(mantissa, kPow10[static_cast<size_t>(power)], out);
}

// The largest multiple of three that does not exceed `exponent`.
int64_t FloorToThree(int64_t exponent) {
  int64_t rest = exponent % 3;
  return exponent - (rest < 0 ? rest + 3 : rest);
}

}  // namespace

struct Quantity::Rare {
  std::string spelling;  // the result of ToString, if not empty
  BigUint magnitude;     // the number, if not zero
  bool negative = false;

  bool holds_number() const { return !magnitude.IsZero(); }
};

Quantity::Quantity() = default;
Quantity::Quantity(int64_t value, Format format) : mantissa_(value), format_(format) {}
Quantity::Quantity(const Quantity& other)
    : mantissa_(other.mantissa_),
      scale_(other.scale_),
      format_(other.format_),
      rare_(other.rare_ ? std::make_unique<Rare>(*other.rare_) : nullptr) {}
Quantity::Quantity(Quantity&& other) noexcept = default;
Quantity& Quantity::operator=(const Quantity& other) {
  if (this != &other) *this = Quantity(other);
  return *this;
}
Quantity& Quantity::operator=(Quantity&& other) noexcept = default;
Quantity::~Quantity() = default;

Quantity Quantity::Scaled(int64_t value, int32_t scale, Format format) {
  Quantity q(value, format);
  q.scale_ = value == 0 ? 0 : scale;
  q.RoundUp(kNano);
  return q;
}

Quantity Quantity::Make(bool negative, BigUint magnitude, int32_t scale, Format format) {
  Quantity q(0, format);
  if (magnitude.IsZero()) return q;
  q.scale_ = scale;
  std::optional<uint64_t> small = magnitude.AsUint64();
  if (small && *small <= static_cast<uint64_t>(kMax)) {
    q.mantissa_ = negative ? -static_cast<int64_t>(*small) : static_cast<int64_t>(*small);
  } else {
    q.rare_ = std::make_unique<Rare>(
        Rare{.spelling = {}, .magnitude = std::move(magnitude), .negative = negative});
  }
  return q;
}

bool Quantity::is_big() const { return rare_ != nullptr && rare_->holds_number(); }

BigUint Quantity::BigMagnitude() const {
  return is_big() ? rare_->magnitude : BigUint(Magnitude(mantissa_));
}

void Quantity::ForgetSpelling() {
  if (rare_ == nullptr) return;
  rare_->spelling.clear();
  if (!rare_->holds_number()) rare_.reset();
}

void Quantity::KeepSpelling(std::string_view spelling) {
  if (rare_ == nullptr) rare_ = std::make_unique<Rare>();
  rare_->spelling = spelling;
}

int Quantity::Sign() const {
  if (is_big()) return rare_->negative ? -1 : 1;
  return mantissa_ == 0 ? 0 : (mantissa_ < 0 ? -1 : 1);
}

int64_t Quantity::ScaledValue(int32_t scale) const {
  int sign = Sign();
  if (sign == 0) return 0;
  const int64_t limit = sign < 0 ? kMin : kMax;
  const int64_t shift = int64_t{scale_} - scale;
  if (is_big()) {
    if (shift >= 0) return limit;
    BigUint magnitude = rare_->magnitude;
    magnitude.CeilDivPow10(static_cast<size_t>(-shift));
    std::optional<uint64_t> small = magnitude.AsUint64();
    if (!small || *small > static_cast<uint64_t>(kMax)) return limit;
    return sign * static_cast<int64_t>(*small);
  }
  if (shift >= 0) {
    int64_t value = 0;
    return Shift(mantissa_, scale_, scale, &value) ? value : limit;
  }
  if (shift < -18) return sign;  // |mantissa| < 10^19
  const int64_t unit = kPow10[static_cast<size_t>(-shift)];
  return mantissa_ / unit + (mantissa_ % unit != 0 ? sign : 0);
}

std::optional<int64_t> Quantity::AsInt64() const {
  int64_t value = Value();
  if (Cmp(Quantity(value)) != 0) return std::nullopt;
  return value;
}

double Quantity::AsApproximateDouble() const {
  if (!is_big()) return static_cast<double>(mantissa_) * std::pow(10.0, scale_);
  // A double has at most seventeen significant digits.
  std::string digits = rare_->magnitude.ToString();
  double value = 0;
  size_t used = std::min<size_t>(digits.size(), 17);
  for (size_t i = 0; i < used; ++i) value = value * 10 + (digits[i] - '0');
  return Sign() * value * std::pow(10.0, static_cast<double>(digits.size() - used) + scale_);
}

bool Quantity::RoundUp(int32_t scale) {
  if (scale_ >= scale || IsZero()) return true;
  BigUint magnitude = BigMagnitude();
  magnitude.CeilDivPow10(static_cast<size_t>(int64_t{scale} - scale_));
  Quantity rounded = Make(Sign() < 0, std::move(magnitude), scale, format_);
  if (rounded == *this) return true;
  *this = std::move(rounded);
  return false;
}

void Quantity::AddSigned(const Quantity& other, bool negate) {
  ForgetSpelling();
  if (IsZero()) {
    *this = other;
    ForgetSpelling();
    if (negate) Neg();
    return;
  }
  if (other.IsZero()) return;
  if (!is_big() && !other.is_big()) {
    const int32_t scale = std::min(scale_, other.scale_);
    int64_t a = 0, b = 0, sum = 0;
    if (Shift(mantissa_, scale_, scale, &a) && Shift(other.mantissa_, other.scale_, scale, &b) &&
        !(negate ? __builtin_sub_overflow(a, b, &sum) : __builtin_add_overflow(a, b, &sum))) {
      mantissa_ = sum;
      scale_ = sum == 0 ? 0 : scale;
      return;
    }
  }
  BigUint a = BigMagnitude(), b = other.BigMagnitude();
  const bool a_negative = Sign() < 0, b_negative = (other.Sign() < 0) != negate;
  const int64_t apart = int64_t{scale_} - other.scale_;
  if (apart > kMaxZeros) return;
  if (apart < -kMaxZeros) {
    *this = Make(b_negative, std::move(b), other.scale_, format_);
    return;
  }
  (apart > 0 ? a : b).MulPow10(static_cast<size_t>(std::abs(apart)));
  const int32_t scale = std::min(scale_, other.scale_);
  bool negative = a_negative;
  if (a_negative == b_negative) {
    a.Add(b);
  } else if (a >= b) {
    a.Sub(b);
  } else {
    b.Sub(a);
    std::swap(a, b);
    negative = b_negative;
  }
  *this = Make(negative, std::move(a), scale, format_);
}

void Quantity::Add(const Quantity& other) {
  if (this == &other) return AddSigned(Quantity(other), false);
  AddSigned(other, false);
}

void Quantity::Sub(const Quantity& other) {
  if (this == &other) return AddSigned(Quantity(other), true);
  AddSigned(other, true);
}

void Quantity::Neg() {
  ForgetSpelling();
  if (is_big() || mantissa_ == kMin) {
    *this = Make(Sign() > 0, BigMagnitude(), scale_, format_);
  } else {
    mantissa_ = -mantissa_;
  }
}

void Quantity::Mul(int64_t factor) {
  ForgetSpelling();
  int64_t product = 0;
  if (!is_big() && !__builtin_mul_overflow(mantissa_, factor, &product)) {
    mantissa_ = product;
    return;
  }
  BigUint magnitude, part = BigMagnitude();
  uint64_t rest = Magnitude(factor);
  // Long multiplication with digits of 31 bits; the factor is at most 2^63.
  constexpr uint32_t kChunk = uint32_t{1} << 31;
  for (; rest != 0; rest /= kChunk) {
    BigUint term = part;
    term.MulSmall(static_cast<uint32_t>(rest % kChunk));
    magnitude.Add(term);
    part.MulSmall(kChunk);
  }
  *this = Make((Sign() < 0) != (factor < 0), std::move(magnitude), scale_, format_);
}

int Quantity::Cmp(const Quantity& other) const {
  const int sign = Sign();
  if (sign != other.Sign()) return sign < other.Sign() ? -1 : 1;
  if (sign == 0) return 0;
  if (!is_big() && !other.is_big() && scale_ == other.scale_) {
    return mantissa_ == other.mantissa_ ? 0 : (mantissa_ < other.mantissa_ ? -1 : 1);
  }
  // Compare the position of the first digit. If it is equal, the alignment costs no more than the
  // number of digits, regardless of the exponents.
  const int64_t top = TopDigit(), other_top = other.TopDigit();
  if (top != other_top) return (top < other_top ? -1 : 1) * sign;
  BigUint a = BigMagnitude(), b = other.BigMagnitude();
  const int64_t apart = int64_t{scale_} - other.scale_;
  (apart > 0 ? a : b).MulPow10(static_cast<size_t>(std::abs(apart)));
  if (a == b) return 0;
  return (a < b ? -1 : 1) * sign;
}

int64_t Quantity::TopDigit() const {
  return scale_ + (is_big() ? static_cast<int64_t>(rare_->magnitude.DigitCount())
                            : DigitCount(Magnitude(mantissa_)));
}

std::string Quantity::ToString() const {
  if (rare_ != nullptr && !rare_->spelling.empty()) return rare_->spelling;
  const int sign = Sign();
  if (sign == 0) return "0";
  if (format_ == Format::kBinarySI) {
    if (std::string text = BinaryString(); !text.empty()) return text;
  }

  std::string digits =
      is_big() ? rare_->magnitude.ToString() : std::to_string(Magnitude(mantissa_));
  size_t significant = digits.find_last_not_of('0') + 1;
  const int64_t exponent = scale_ + static_cast<int64_t>(digits.size() - significant);
  const bool write_exponent = format_ == Format::kDecimalExponent || exponent > kMaxZeros;
  // Parse accepts exponents up to int32; 2^31-2 is the largest multiple of three.
  const int64_t largest = write_exponent ? std::numeric_limits<int32_t>::max() - 1 : 18;
  const int64_t written = std::min(FloorToThree(exponent), largest);
  digits.resize(significant);
  digits.append(static_cast<size_t>(exponent - written), '0');
  if (sign < 0) digits.insert(digits.begin(), '-');
  if (written == 0) return digits;
  if (write_exponent) return digits + "e" + std::to_string(written);
  return digits + "num?kMGTPE"[static_cast<size_t>(written / 3 + 3)];
}

// Empty if the number has a fraction, is below 1024 or exceeds the maximum of binary quantities,
// where Parse would not restore it: those are printed with decimal suffixes.
std::string Quantity::BinaryString() const {
  constexpr std::array<std::string_view, 7> kSuffixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  const std::optional<int64_t> whole = AsInt64();
  if (!whole || *whole == kMin || Magnitude(*whole) < 1024) return {};
  uint64_t rest = Magnitude(*whole);
  size_t power = 0;
  for (; rest % 1024 == 0; rest /= 1024) ++power;
  return (*whole < 0 ? "-" : "") + std::to_string(rest).append(kSuffixes[power]);
}

}  // namespace cox

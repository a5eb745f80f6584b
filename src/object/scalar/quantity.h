// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cox {

class BigUint;

// An exact fixed-point number with a unit suffix, as in `cpu: 500m` or `memory: 1536Mi`.
//
//   number  = [+-] digits [. digits]
//   suffix  = Ki Mi Gi Ti Pi Ei | n u m (none) k M G T P E | e<int> | E<int>
//
// Guarantees: exact, without floating point. The precision is 10^-9: Parse rounds away from zero.
//   Binary quantities are capped at 2^63-1 in magnitude; decimal ones have no limit. The format
//   (binary, decimal, exponent) of the input is kept for output. ToString is canonical: no
//   fraction, the largest suffix that needs none, no sign except '-'. One exception, for
//   compatibility: a number that is canonical except for its notation ("+1", "01", "5.", "1E3") is
//   printed as given until it changes.
// Cost: 24 bytes, without allocation unless the number exceeds int64 or keeps its notation. Time is
// linear in the length of the input, regardless of the exponent.
// Equality and order compare the number: 1024Mi == 1Gi.
// Threads: as a plain value.
class Quantity {
 public:
  enum class Format : uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  // Powers of ten for ScaledValue and similar functions.
  static constexpr int32_t kNano = -9, kMicro = -6, kMilli = -3, kKilo = 3, kMega = 6, kGiga = 9;

  Quantity();  // zero
  explicit Quantity(int64_t value, Format format = Format::kDecimalSI);
  Quantity(const Quantity& other);
  Quantity(Quantity&& other) noexcept;
  Quantity& operator=(const Quantity& other);
  Quantity& operator=(Quantity&& other) noexcept;
  ~Quantity();

  // value * 10^scale; rounds away from zero to 10^-9.
  static Quantity Scaled(int64_t value, int32_t scale, Format format = Format::kDecimalSI);
  static Quantity Milli(int64_t value, Format format = Format::kDecimalSI) {
    return Scaled(value, kMilli, format);
  }

  // Errors: BadRequest, with upstream's texts, if `text` is not a quantity.
  static Result<Quantity> Parse(std::string_view text);

  std::string ToString() const;
  Format format() const { return format_; }

  int Sign() const;  // -1, 0, 1
  bool IsZero() const { return Sign() == 0; }

  // The number in units of 1, 10^-3 or 10^scale, rounded away from zero and saturated to int64.
  int64_t Value() const { return ScaledValue(0); }
  int64_t MilliValue() const { return ScaledValue(kMilli); }
  int64_t ScaledValue(int32_t scale) const;
  // The number if it is an integer and fits int64.
  std::optional<int64_t> AsInt64() const;
  // For metrics and scores only.
  double AsApproximateDouble() const;

  // Rounds away from zero to a multiple of 10^scale; returns false if that changed the number.
  bool RoundUp(int32_t scale);

  // A zero adopts the format of the other operand. If the operands differ by more than 10^4096, the
  // smaller one is dropped (no legitimate quantity is that large).
  void Add(const Quantity& other);
  void Sub(const Quantity& other);
  void Neg();
  void Mul(int64_t factor);

  // -1, 0, 1 for less, equal, greater.
  int Cmp(const Quantity& other) const;

  friend bool operator==(const Quantity& a, const Quantity& b) { return a.Cmp(b) == 0; }
  friend std::weak_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.Cmp(b) <=> 0;
  }

 private:
  struct Rare;  // a number beyond int64, or the original notation

  static Quantity Make(bool negative, BigUint magnitude, int32_t scale, Format format);
  bool is_big() const;  // rare_ contains the number
  BigUint BigMagnitude() const;
  int64_t TopDigit() const;  // the power of ten above the number
  std::string BinaryString() const;
  void KeepSpelling(std::string_view spelling);
  void ForgetSpelling();
  void AddSigned(const Quantity& other, bool negate);

  int64_t mantissa_ = 0;  // times 10^scale_; unused if rare_ contains the number
  int32_t scale_ = 0;
  Format format_ = Format::kDecimalSI;
  std::unique_ptr<Rare> rare_;
};

static_assert(sizeof(Quantity) <= 24);

}  // namespace cox

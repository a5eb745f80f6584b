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
// Guarantees: no float anywhere. Nothing finer than 10^-9 is kept: Parse rounds away from zero to
// it.
//   Binary quantities are capped at 2^63-1 in magnitude; decimal ones have no cap. The format
//   (binary, decimal, exponent) of the input is kept for output. ToString is canonical: no
//   fraction, the largest suffix that needs none, no sign but '-'. One exception, for
//   compatibility: a number that was canonical but for its spelling ("+1", "01", "5.", "1E3") is
//   given back as spelled until changed.
// Cost: 24 bytes, without allocation unless the number leaves int64 or has such a spelling. Time is
//   linear in the length of the input, however large the exponent.
// Equality and order are of the number: 1024Mi == 1Gi.
// Threads: as a plain value.
class Quantity {
 public:
  enum class Format : uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  // Powers of ten for ScaledValue and friends.
  static constexpr int32_t kNano = -9, kMicro = -6, kMilli = -3, kKilo = 3, kMega = 6, kGiga = 9;

  Quantity();  // zero
  explicit Quantity(int64_t value, Format format = Format::kDecimalSI);
  Quantity(const Quantity& other);
  Quantity(Quantity&& other) noexcept;
  Quantity& operator=(const Quantity& other);
  Quantity& operator=(Quantity&& other) noexcept;
  ~Quantity();

  // value * 10^scale; finer than 10^-9 rounds away from zero.
  static Quantity Scaled(int64_t value, int32_t scale, Format format = Format::kDecimalSI);
  static Quantity Milli(int64_t value, Format format = Format::kDecimalSI) {
    return Scaled(value, kMilli, format);
  }

  // BadRequest, with upstream's texts, when `text` is no quantity.
  static Result<Quantity> Parse(std::string_view text);

  std::string ToString() const;
  Format format() const { return format_; }

  int Sign() const;  // -1, 0, 1
  bool IsZero() const { return Sign() == 0; }

  // The number in units of 1, 10^-3 or 10^scale, rounded away from zero; saturates at the ends of
  // int64.
  int64_t Value() const { return ScaledValue(0); }
  int64_t MilliValue() const { return ScaledValue(kMilli); }
  int64_t ScaledValue(int32_t scale) const;
  // The number when it is whole and fits.
  std::optional<int64_t> AsInt64() const;
  // For metrics and scores only.
  double AsApproximateDouble() const;

  // Rounds away from zero to a multiple of 10^scale; false when that changed the number.
  bool RoundUp(int32_t scale);

  // A zero takes over the format of what is added to or subtracted from it. When the operands
  // differ by more than 10^4096 the smaller one is dropped (no honest quantity is near).
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
  struct Rare;  // a number beyond int64, or a spelling to give back

  static Quantity Make(bool negative, BigUint magnitude, int32_t scale, Format format);
  bool is_big() const;  // rare_ holds the number
  BigUint BigMagnitude() const;
  int64_t TopDigit() const;  // the power of ten above the number
  std::string BinaryString() const;
  void KeepSpelling(std::string_view spelling);
  void ForgetSpelling();
  void AddSigned(const Quantity& other, bool negate);

  int64_t mantissa_ = 0;  // times 10^scale_; unused when rare_ holds the number
  int32_t scale_ = 0;
  Format format_ = Format::kDecimalSI;
  std::unique_ptr<Rare> rare_;
};

static_assert(sizeof(Quantity) <= 24);

}  // namespace cox

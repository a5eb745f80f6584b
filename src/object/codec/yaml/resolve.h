// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cox::yaml {

// A resolved scalar: YAML 1.1 as implemented by goyaml v2.
struct Scalar {
  enum class Kind : uint8_t { kNull, kBool, kInt, kUint, kFloat, kString, kTimestamp, kMerge };

  Kind kind = Kind::kString;
  bool boolean = false;
  int64_t integer = 0;
  uint64_t unsigned_integer = 0;  // kUint: does not fit int64
  double number = 0;

  // "!!int" and similar tags, for error texts.
  std::string_view ShortTag() const;
};

// Resolves a plain scalar without a tag. Most callers treat kTimestamp and kMerge as strings.
Scalar Resolve(std::string_view text);

// Whether the text is a base 60 number in YAML 1.1 ("1:30"). Parse does not support them, but other
// parsers do, so such strings are quoted.
bool IsBase60(std::string_view text);

// A double in Go's 'g' format with the fewest digits: 1.5, 1e+06, 1e-05, +Inf. `bits` is 32 to
// round to a float first; `first_exponent` is the first power of ten that is printed with an
// exponent (21 in Go's JSON).
std::string FormatG(double value, int bits = 64, int first_exponent = 6);

}  // namespace cox::yaml

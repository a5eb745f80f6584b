// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cox::yaml {

// What a scalar's text means: YAML 1.1 as goyaml v2 reads it.
struct Scalar {
  enum class Kind : uint8_t { kNull, kBool, kInt, kUint, kFloat, kString, kTimestamp, kMerge };

  Kind kind = Kind::kString;
  bool boolean = false;
  int64_t integer = 0;
  uint64_t unsigned_integer = 0;  // kUint: does not fit int64
  double number = 0;

  // "!!int" and the like, for error texts.
  std::string_view ShortTag() const;
};

// The meaning of a plain scalar without a tag. kTimestamp and kMerge are strings to most readers.
Scalar Resolve(std::string_view text);

// Whether YAML 1.1 would read it as a number in base 60 ("1:30"). We do not, but others do: such
// strings are quoted.
bool IsBase60(std::string_view text);

// A double as Go's 'g' format with the fewest digits: 1.5, 1e+06, 1e-05, +Inf. `bits` is 32 to
// round to a float first; `first_exponent` is the first power of ten written with an exponent
// (Go's JSON has 21).
std::string FormatG(double value, int bits = 64, int first_exponent = 6);

}  // namespace cox::yaml

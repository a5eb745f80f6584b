// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace cox {

// A field that is a number or a string in JSON: `maxUnavailable: 1` or `"25%"`, `targetPort: 80` or
// `"http"`.
//
// The zero value is the number 0. Equality includes the kind: 80 != "80".
// Threads: as a plain value.
class IntOrString {
 public:
  IntOrString() = default;
  // Implicit, so that `.targetPort = 80` and `.maxUnavailable = "25%"` are as short as in YAML.
  IntOrString(int32_t value) : int_(value) {}                                      // NOLINT
  IntOrString(std::string value) : string_(std::move(value)), is_string_(true) {}  // NOLINT
  IntOrString(std::string_view value) : string_(value), is_string_(true) {}        // NOLINT
  IntOrString(const char* value) : string_(value), is_string_(true) {}             // NOLINT

  static IntOrString FromInt(int32_t value) { return value; }
  static IntOrString FromString(std::string value) { return IntOrString(std::move(value)); }
  // A number if `text` is one that fits int32, otherwise a string.
  static IntOrString Parse(std::string_view text);

  bool is_string() const { return is_string_; }
  int32_t int_value() const { return int_; }                   // 0 for strings
  const std::string& string_value() const { return string_; }  // empty for numbers

  // The string, or the number in decimal.
  std::string ToString() const;
  // The number; strings are parsed as decimal, 0 if they are not a number, saturated to int64.
  int64_t IntValue() const;

  bool operator==(const IntOrString&) const = default;

 private:
  std::string string_;
  int32_t int_ = 0;
  bool is_string_ = false;
};

// The number itself, or for "25%" that percentage of `total`, rounded up or down.
// Errors: BadRequest, with upstream's texts, for strings that are not a percentage.
Result<int64_t> GetScaledValueFromIntOrPercent(const IntOrString& value, int64_t total,
                                               bool round_up);

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "object/scalar/time.h"
#include "object/type/value.h"

namespace cox::apiserver {

// A column of `kubectl get`. `priority` 0 is always shown, 1 with -o wide.
struct Column {
  std::string_view name;         // "Ready"
  std::string_view type;         // "string", "integer", "boolean", "date", ...
  std::string_view format = "";  // "name" for the column that holds names
  std::string_view description = "";
  int priority = 0;
};

// The cells of one row, in the order of the columns: strings, integers, booleans, null.
using Cells = std::vector<Value>;

// The columns that most kinds begin and end with, and the age cell of an object created at
// `created`: "3m5s", "4d", "<unknown>" for no time.
inline constexpr Column kNameColumn = {.name = "Name", .type = "string", .format = "name"};
inline constexpr Column kAgeColumn = {.name = "Age", .type = "string"};
std::string Age(const Time& created, const Time& now);
// A duration as kubectl shows ages: "0s", "59s", "2m3s", "10m", "3h2m", "23h", "47h", "4d2h",
// "10d", "2y3d", "8y".
std::string HumanDuration(int64_t seconds);

}  // namespace cox::apiserver

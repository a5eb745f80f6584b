// SPDX-License-Identifier: Apache-2.0
#include "object/patch/depth.h"

#include <algorithm>

namespace cox::patch {

int DepthOf(const Value& value) {
  int below = 0;
  if (value.is_array()) {
    for (const Value& item : value.as_array()) below = std::max(below, DepthOf(item));
  } else if (value.is_object()) {
    for (const auto& member : value.as_object()) below = std::max(below, DepthOf(member.value));
  } else {
    return 0;
  }
  return below + 1;
}

bool DeeperThan(const Value& value, int limit) {
  if (!value.is_array() && !value.is_object()) return false;
  if (limit <= 0) return true;
  if (value.is_array()) {
    const Value::Array& items = value.as_array();
    return std::any_of(items.begin(), items.end(),
                       [&](const Value& item) { return DeeperThan(item, limit - 1); });
  }
  const Value::Object& members = value.as_object();
  return std::any_of(members.begin(), members.end(),
                     [&](const auto& member) { return DeeperThan(member.value, limit - 1); });
}

}  // namespace cox::patch

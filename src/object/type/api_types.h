// SPDX-License-Identifier: Apache-2.0
#pragma once

// The field types of the generated API structs. Keep it small: every file that uses an API struct
// includes it.
#include <cstdint>
#include <optional>
#include <string>

#include "object/scalar/int_or_string.h"
#include "object/scalar/quantity.h"
#include "object/scalar/time.h"
#include "object/type/box.h"
#include "object/type/list.h"
#include "object/type/map.h"
#include "object/type/raw_json.h"

namespace cox {

struct KindInfo;
struct Type;

// A bool in a list of a user's struct, because std::vector<bool> has no addressable elements.
struct Bool {
  bool value = false;

  Bool() = default;
  Bool(bool v) : value(v) {}               // NOLINT: reads as a bool
  operator bool() const { return value; }  // NOLINT
};

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the generated API structs are made of. Kept light: every file that names a Pod reads it.
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

// A bool in a list of a user's struct: std::vector<bool> has no bools that could be pointed to.
struct Bool {
  bool value = false;

  Bool() = default;
  Bool(bool v) : value(v) {}               // NOLINT: reads as a bool
  operator bool() const { return value; }  // NOLINT
};

}  // namespace cox

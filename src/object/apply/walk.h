// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.h"
#include "object/apply/path.h"
#include "object/type/limits.h"

// Helpers of the recursive functions of typed.h.
namespace cox::apply {

inline constexpr int kMaxWalkDepth = limits::kMaxTypedDepth;

inline Status TooDeep() { return Status::BadRequest(": nested too deeply"); }

// Adds a path element in front: errors start as ": text" and become ".name: text".
inline Status Under(const PathElement& element, const Status& status) {
  std::string text;
  element.AppendTo(&text);
  return Status(status.reason(), text + status.message(), status.details());
}

}  // namespace cox::apply

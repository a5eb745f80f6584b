// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/value.h"

// How deep documents nest. Most patch algorithms recurse over the patch: they refuse one deeper
// than limits::kMaxTypedDepth first, and then need not count.
namespace cox::patch {

// Arrays and objects inside each other: 0 for a scalar, 1 for {"a": 1}.
int DepthOf(const Value& value);

// DepthOf(value) > limit, without going deeper than that.
bool DeeperThan(const Value& value, int limit);

}  // namespace cox::patch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/value.h"

// The nesting depth of documents. Most patch algorithms are recursive: they first reject patches
// deeper than limits::kMaxTypedDepth and then need no check.
namespace cox::patch {

// The nesting of arrays and objects: 0 for a scalar, 1 for {"a": 1}.
int DepthOf(const Value& value);

// DepthOf(value) > limit, without descending further.
bool DeeperThan(const Value& value, int limit);

}  // namespace cox::patch

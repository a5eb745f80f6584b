// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/type.h"

// Types for the tests of patches, with all merge strategies of fields.
namespace cox::patch {

// "v1.Item": recursive, with lists, maps and pointers of itself for each strategy.
const Type& SampleItemType();

// "v1.Open": an object with one field of unspecified type; unknown fields are preserved.
const Type& SampleOpenType();

}  // namespace cox::patch

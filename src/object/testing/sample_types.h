// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/type.h"

// Types for the tests of this folder, with every way in which a field can merge.
namespace cox::patch {

// "v1.Item": holds itself in lists, maps and pointers of each strategy.
const Type& SampleItemType();

// "v1.Open": an object with one field of unknown type, and unknown fields kept.
const Type& SampleOpenType();

}  // namespace cox::patch

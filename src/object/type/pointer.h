// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/type.h"

// Fields with Field::kPointer: a Box of a struct, a std::optional of anything else. Lists and maps
// are never behind a pointer, since empty means absent for them.
namespace cox {

// What the field at `at` points to, or null.
const void* PointedTo(const Type& type, const void* at);
// The same, made first where there was nothing.
void* EnsurePointedTo(const Type& type, void* at);
// Makes it point to nothing.
void ResetPointer(const Type& type, void* at);

}  // namespace cox

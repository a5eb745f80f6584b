// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/type.h"

// Fields with Field::kPointer: a Box of a struct, a std::optional of other types. Lists and maps
// never have a pointer, because empty means absent for them.
namespace cox {

// The object that the field at `at` points to, or null.
const void* PointedTo(const Type& type, const void* at);
// The same, but creates the object if there is none.
void* EnsurePointedTo(const Type& type, void* at);
// Removes the object.
void ResetPointer(const Type& type, void* at);

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "object/object.h"
#include "object/type/value.h"

namespace cox::apiserver {

// A patched document as error messages contain it: unpatched fields in struct order, patched fields
// sorted by name.
std::string PatchedText(const Object& original, const Value& patched);

}  // namespace cox::apiserver

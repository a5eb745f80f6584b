// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "object/object.h"
#include "object/type/value.h"

namespace cox::apiserver {

// A patched document as errors show it: what the patch left alone in the order of the struct, what
// it touched sorted by name.
std::string PatchedText(const Object& original, const Value& patched);

}  // namespace cox::apiserver

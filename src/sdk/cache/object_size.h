// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "object/object.h"

namespace cox::sdk {

// What `object` takes in memory, with what hangs off it: about what the allocator has handed out
// for it. Spare capacity is not seen.
size_t SizeInMemory(const Object& object);

}  // namespace cox::sdk

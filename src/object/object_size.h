// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "object/object.h"

namespace cox {

// Approximate heap memory of `object` and everything that it owns. Spare capacity of lists is not
// counted.
size_t SizeInMemory(const Object& object);

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/type.h"

namespace cox {

// Whether two objects of one type are semantically equal: quantities and times are compared by
// value (1Gi equals 1024Mi), raw JSON by its text. An empty list equals an absent one.
bool DeepEqual(const Type& type, const void* a, const void* b);

// Whether they have the same JSON: 1Gi does not equal 1073741824.
bool EqualAsWritten(const Type& type, const void* a, const void* b);

template <class T>
bool DeepEqual(const T& a, const T& b) {
  return DeepEqual(T::kType, &a, &b);
}

}  // namespace cox

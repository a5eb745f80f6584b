// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/type.h"

namespace cox {

// Sets every absent field with a constant default (Field::default_json), recursively. A field is
// absent if its pointer is null or, without a pointer, if it has its zero value. Absent optional
// structs stay absent.
//
// For Values see ApplyDefaults in runtime_type.h; defaults that depend on other fields belong to
// the kind's strategy.
void ApplyDefaults(const Type& type, void* object);

template <class T>
void ApplyDefaults(T* object) {
  ApplyDefaults(T::kType, object);
}

}  // namespace cox

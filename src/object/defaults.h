// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/type.h"

namespace cox {

// Gives every absent field that has a constant default (Field::default_json) that default, in the
// object and everything below it. A field is absent when its pointer is empty or, without a
// pointer, when it has its zero value. Optional parts that are absent stay absent: defaults fill
// what is there.
//
// For Values see ApplyDefaults in runtime_type.h; defaults that depend on other fields belong to a
// kind's strategy.
void ApplyDefaults(const Type& type, void* object);

template <class T>
void ApplyDefaults(T* object) {
  ApplyDefaults(T::kType, object);
}

}  // namespace cox

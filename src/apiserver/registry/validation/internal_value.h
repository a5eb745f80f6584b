// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/type.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// A struct as field errors contain it: the JSON of Go's internal type. Internal types have no JSON
// tags, so members have Go's field names ("APIGroup", "PodIP"), all members are present, and absent
// or empty values are null. Types of metav1 (label selectors, metadata) have JSON tags and are
// written as on the wire; the members of metadata are written as members of the object.
//
//   roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"edit"}:
//   ...
//
// The members are in the order of the API type. Where the internal type differs in more than names
// (PodSpec, whose host* fields are in the security context), the caller writes the value.
FieldValue InternalValue(const Type& type, const void* object);

template <class T>
FieldValue InternalValue(const T& object) {
  return InternalValue(T::kType, &object);
}

}  // namespace cox::apiserver

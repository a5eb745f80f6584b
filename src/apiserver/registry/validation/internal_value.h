// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/type.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// A struct as a field error quotes it: the JSON of Go's internal form of the type. That form has no
// JSON names of its own, so members carry Go's field names ("APIGroup", "PodIP"), none is left out,
// and what is absent or empty is null. Types of metav1 (label selectors, metadata) do have JSON
// names and are written as on the wire; metadata stands directly in its object.
//
//   roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"edit"}:
//   ...
//
// Members come in the order of the API's own type. Where the internal form differs in more than
// names (PodSpec, whose host* fields moved into the security context) the caller writes it himself.
FieldValue InternalValue(const Type& type, const void* object);

template <class T>
FieldValue InternalValue(const T& object) {
  return InternalValue(T::kType, &object);
}

}  // namespace cox::apiserver

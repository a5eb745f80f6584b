// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "object/apply/field_set.h"
#include "object/type/type.h"

namespace cox::apply {

// The fields that the writer of a new object owns, as FieldsV1 text. FieldManager::UpdateManagers
// finds the same fields, but every create request would have to convert the object to a Value for
// it.
//
// `zero` is a default-constructed struct of the type. A field with the same value as in `zero` has
// no owner. The fields of `excluded` and all fields below them have no owner either. nullopt: the
// object has a list with two items of the same key, has a field without a specified type, or is
// nested too deeply.
std::optional<std::string> FieldsOfNewObject(const Type& type, const void* object, const void* zero,
                                             const FieldSet& excluded);

}  // namespace cox::apply

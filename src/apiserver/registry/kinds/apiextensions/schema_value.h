// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/apiextensions/v1.h"
#include "object/type/value.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// What is wrong with `value` by `schema`, in the words clients know from custom resources. `path`
// is where the value stands; fields below it are named in the errors.
FieldErrorList ValidateValue(const Value& value, const apiextensions::v1::JSONSchemaProps& schema,
                             const FieldPath& path);

}  // namespace cox::apiserver

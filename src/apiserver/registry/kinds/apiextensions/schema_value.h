// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/apiextensions/v1.h"
#include "object/type/value.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// Validates `value` by `schema`, with upstream's texts for custom resources. `path` is the path of
// the value; errors about fields below it contain their names.
FieldErrorList ValidateValue(const Value& value, const apiextensions::v1::JSONSchemaProps& schema,
                             const FieldPath& path);

}  // namespace cox::apiserver

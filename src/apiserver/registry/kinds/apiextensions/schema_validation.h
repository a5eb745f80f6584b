// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/apiextensions/v1.h"
#include "object/validation/field_error.h"

// The schemas of custom resources.
namespace cox::apiserver {

// Validates a schema by OpenAPI and by the API's extensions: unsupported keywords, list map keys
// that do not exist, invalid regular expressions, and so on.
FieldErrorList ValidateSchema(const apiextensions::v1::JSONSchemaProps& schema,
                              const FieldPath& path);

// Whether a schema is structural: every field has its type where it is declared, and the branches
// of allOf, anyOf, oneOf and not only restrict values. Pruning, defaulting and apply need that.
FieldErrorList ValidateStructural(const apiextensions::v1::JSONSchemaProps& schema,
                                  const FieldPath& path);

// Validates the defaults in a schema: each must be a valid value of its own schema.
FieldErrorList ValidateSchemaDefaults(const apiextensions::v1::JSONSchemaProps& schema,
                                      const FieldPath& path);

// Unknown formats in the schema, each once, sorted.
std::vector<std::string> UnknownFormats(const apiextensions::v1::JSONSchemaProps& schema);

// Empty if `pattern` is a valid regular expression, else the error text of Go's compiler.
std::string RegexError(const std::string& pattern);

}  // namespace cox::apiserver

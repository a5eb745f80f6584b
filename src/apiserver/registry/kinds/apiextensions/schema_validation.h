// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/apiextensions/v1.h"
#include "object/validation/field_error.h"

// The schemas of custom resources.
namespace cox::apiserver {

// What OpenAPI and the API's own extensions forbid in a schema: unsupported keywords, lists whose
// keys do not exist, broken regular expressions, and so on.
FieldErrorList ValidateSchema(const apiextensions::v1::JSONSchemaProps& schema,
                              const FieldPath& path);

// Whether a schema is structural: every field has its type where it is declared, and the branches
// of allOf, anyOf, oneOf and not only restrict values. Pruning, defaulting and apply need that.
FieldErrorList ValidateStructural(const apiextensions::v1::JSONSchemaProps& schema,
                                  const FieldPath& path);

// The defaults in a schema: each must be a value that its own schema allows.
FieldErrorList ValidateSchemaDefaults(const apiextensions::v1::JSONSchemaProps& schema,
                                      const FieldPath& path);

// Formats in the schema that no validator knows, each once, sorted.
std::vector<std::string> UnknownFormats(const apiextensions::v1::JSONSchemaProps& schema);

// Empty if `pattern` is a regular expression, else what Go's compiler would say about it.
std::string RegexError(const std::string& pattern);

}  // namespace cox::apiserver

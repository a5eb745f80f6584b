// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/meta/v1.h"
#include "object/validation/field_error.h"
#include "object/validation/names.h"

// Generated names and uids, and validation of metadata.
namespace cox::apiserver {

// A random UUID (version 4).
std::string NewUid();

// `prefix`, truncated if necessary, and five random characters that cannot form words.
std::string GenerateName(std::string_view prefix);

FieldErrorList ValidateMeta(const meta::v1::ObjectMeta& meta, bool namespaced,
                            validation::NameRule name_rule);
// Finalizers must be "domain/name" or one of the standard names without a domain.
FieldErrorList ValidateFinalizersQualified(const meta::v1::ObjectMeta& meta);
FieldErrorList ValidateMetaUpdate(const meta::v1::ObjectMeta& meta,
                                  const meta::v1::ObjectMeta& old);

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/meta/v1.h"
#include "object/validation/field_error.h"
#include "object/validation/names.h"

// Names and identities that the server makes, and the rules of metadata.
namespace cox::apiserver {

// A random UUID (version 4).
std::string NewUid();

// `prefix`, cut to leave room, and five characters that make no words.
std::string GenerateName(std::string_view prefix);

FieldErrorList ValidateMeta(const meta::v1::ObjectMeta& meta, bool namespaced,
                            validation::NameRule name_rule);
// Finalizers of new objects are "domain/name" or one of the few that have no domain.
FieldErrorList ValidateFinalizersQualified(const meta::v1::ObjectMeta& meta);
FieldErrorList ValidateMetaUpdate(const meta::v1::ObjectMeta& meta,
                                  const meta::v1::ObjectMeta& old);

}  // namespace cox::apiserver

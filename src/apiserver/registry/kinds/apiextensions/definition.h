// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/apiextensions/v1.h"
#include "apiserver/registry/store/strategy.h"

// CustomResourceDefinition: validation and defaults of definitions. The custom resources are served
// elsewhere.
namespace cox::apiserver {

StrategyPtr NewCustomResourceDefinitionStrategy();

// Validates a new definition (`old` is null) or a changed one, except for metadata.
//
// Paths in errors are those of upstream's internal type, in which parts that are the same in all
// versions (schema, subresources, columns) are at the top of the spec:
// spec.validation.openAPIV3Schema.
FieldErrorList ValidateDefinition(const apiextensions::v1::CustomResourceDefinition& definition,
                                  const apiextensions::v1::CustomResourceDefinition* old);

// Texts for the Warning header: unknown formats in schemas.
std::vector<std::string> WarnOnDefinition(
    const apiextensions::v1::CustomResourceDefinition& definition);

// Keeps a definition until all its custom resources are deleted.
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

// A condition of the status, or null.
const apiextensions::v1::CustomResourceDefinitionCondition* FindCondition(
    const apiextensions::v1::CustomResourceDefinition& definition, std::string_view type);

}  // namespace cox::apiserver

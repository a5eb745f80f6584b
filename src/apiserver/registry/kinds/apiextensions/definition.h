// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/apiextensions/v1.h"
#include "apiserver/registry/store/strategy.h"

// CustomResourceDefinition: what a definition must be to be stored. Serving the resources it
// defines is elsewhere.
namespace cox::apiserver {

StrategyPtr NewCustomResourceDefinitionStrategy();

// What is wrong with a new definition (`old` is null) or a changed one, apart from metadata.
//
// Paths are those of the hub form that clients have always seen in errors: what all versions have
// in common (schema, subresources, columns) stands at the top, spec.validation.openAPIV3Schema.
FieldErrorList ValidateDefinition(const apiextensions::v1::CustomResourceDefinition& definition,
                                  const apiextensions::v1::CustomResourceDefinition* old);

// Texts for the Warning header: formats that no validator knows.
std::vector<std::string> WarnOnDefinition(
    const apiextensions::v1::CustomResourceDefinition& definition);

// Keeps a definition until all objects it defines are gone.
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

// A condition of the status, or null.
const apiextensions::v1::CustomResourceDefinitionCondition* FindCondition(
    const apiextensions::v1::CustomResourceDefinition& definition, std::string_view type);

}  // namespace cox::apiserver

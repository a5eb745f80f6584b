// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/admissionregistration/v1.h"
#include "object/validation/field_error.h"

// The common parts of webhooks and policies: the requests that they match, and their match
// conditions.
namespace cox::apiserver {

// Set defaults of the selectors, the match policy and the scopes of rules.
void DefaultMatchResources(admissionregistration::v1::MatchResources& match);
void DefaultRule(admissionregistration::v1::RuleWithOperations& rule);

FieldErrorList ValidateRule(const admissionregistration::v1::RuleWithOperations& rule,
                            const FieldPath& path);
FieldErrorList ValidateMatchResources(const admissionregistration::v1::MatchResources& match,
                                      const FieldPath& path);
FieldErrorList ValidateParamRef(const admissionregistration::v1::ParamRef& ref,
                                const FieldPath& path);
FieldErrorList ValidateParamKind(const admissionregistration::v1::ParamKind& kind,
                                 const FieldPath& path);
FieldErrorList ValidateMatchConditions(
    const List<admissionregistration::v1::MatchCondition>& conditions, const FieldPath& path);

// Appends NotSupported if `value` is not in `supported`.
void CheckSupported(std::string_view value, std::initializer_list<std::string_view> supported,
                    const FieldPath& path, FieldErrorList* errors);

// Whether CEL expressions can use the name for a variable: [_a-zA-Z][_a-zA-Z0-9]*, no reserved
// word.
bool IsCelIdentifier(std::string_view name);

// The columns `ParamKind` and `ParamRef` of kubectl get.
std::string ParamKindCell(const admissionregistration::v1::ParamKind* kind);
std::string ParamRefCell(const admissionregistration::v1::ParamRef* ref);

}  // namespace cox::apiserver

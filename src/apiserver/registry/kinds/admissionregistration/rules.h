// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/admissionregistration/v1.h"
#include "object/validation/field_error.h"

// What webhooks and policies have in common: which requests they are about, and under which
// conditions.
namespace cox::apiserver {

// Fills in the selectors, the match policy and the scopes of rules.
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

// Appends NotSupported if `value` is none of `supported`.
void CheckSupported(std::string_view value, std::initializer_list<std::string_view> supported,
                    const FieldPath& path, FieldErrorList* errors);

// A name that an expression can use for a variable: [_a-zA-Z][_a-zA-Z0-9]*, no word of the
// language.
bool IsCelIdentifier(std::string_view name);

// `ParamKind` and `ParamRef` of kubectl get.
std::string ParamKindCell(const admissionregistration::v1::ParamKind* kind);
std::string ParamRefCell(const admissionregistration::v1::ParamRef* ref);

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/meta/v1.h"
#include "object/validation/field_error.h"

// metav1.LabelSelector in the fields of many kinds.
namespace cox::apiserver {

struct LabelSelectorValidationOptions {
  // Allows values that are not valid label values: for objects stored before this was checked.
  bool allow_invalid_label_value = false;
  // Allows unknown operators.
  bool allow_unknown_operator = false;
};

// Validates `selector` at `path`: keys and values of matchLabels, then matchExpressions. A null
// selector is valid here; kinds that require one check that themselves.
FieldErrorList ValidateLabelSelector(const meta::v1::LabelSelector* selector, const FieldPath& path,
                                     const LabelSelectorValidationOptions& options = {});
inline FieldErrorList ValidateLabelSelector(const meta::v1::LabelSelector& selector,
                                            const FieldPath& path,
                                            const LabelSelectorValidationOptions& options = {}) {
  return ValidateLabelSelector(&selector, path, options);
}

FieldErrorList ValidateLabelSelectorRequirement(const meta::v1::LabelSelectorRequirement& term,
                                                const FieldPath& path,
                                                const LabelSelectorValidationOptions& options = {});

// Whether the selector has no labels and no expressions, so that it selects everything.
inline bool IsEmptySelector(const meta::v1::LabelSelector& selector) {
  return selector.matchLabels.empty() && selector.matchExpressions.empty();
}

}  // namespace cox::apiserver

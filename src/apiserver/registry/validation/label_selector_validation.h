// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/meta/v1.h"
#include "object/validation/field_error.h"

// metav1.LabelSelector in the fields of many kinds.
namespace cox::apiserver {

struct LabelSelectorValidationOptions {
  // Values that no label can have are let through: for objects stored before this was checked.
  bool allow_invalid_label_value = false;
  // So are operators that are none.
  bool allow_unknown_operator = false;
};

// What is wrong with `selector` at `path`: keys and values of matchLabels, then matchExpressions.
// A null selector is no error here; kinds that need one say so themselves.
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

// No labels and no expressions: selects everything.
inline bool IsEmptySelector(const meta::v1::LabelSelector& selector) {
  return selector.matchLabels.empty() && selector.matchExpressions.empty();
}

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/validation/label_selector_validation.h"

#include <string_view>
#include <utility>
#include <vector>

#include "object/validation/names.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

// In and NotIn need values; Exists and DoesNotExist must have none.
void CheckNumberOfValues(const meta::v1::LabelSelectorRequirement& term, const FieldPath& path,
                         const LabelSelectorValidationOptions& options, FieldErrorList& errors) {
  std::string_view op = term.operator_;
  if (op == "In" || op == "NotIn") {
    if (term.values.empty()) {
      errors.push_back(FieldError::Required(
          path.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!term.values.empty()) {
      errors.push_back(FieldError::Forbidden(
          path.Child("values"),
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (!options.allow_unknown_operator) {
    errors.push_back(
        FieldError::Invalid(path.Child("operator"), op, "not a valid selector operator"));
  }
}

}  // namespace

FieldErrorList ValidateLabelSelectorRequirement(const meta::v1::LabelSelectorRequirement& term,
                                                const FieldPath& path,
                                                const LabelSelectorValidationOptions& options) {
  FieldErrorList errors;
  CheckNumberOfValues(term, path, options, errors);
  Append(errors, validation::ValidateLabelName(term.key, path.Child("key")));
  if (options.allow_invalid_label_value) return errors;
  for (size_t i = 0; i < term.values.size(); ++i) {
    for (std::string& message : validation::IsValidLabelValue(term.values[i])) {
      errors.push_back(
          FieldError::Invalid(path.Child("values").Index(i), term.values[i], std::move(message)));
    }
  }
  return errors;
}

FieldErrorList ValidateLabelSelector(const meta::v1::LabelSelector* selector, const FieldPath& path,
                                     const LabelSelectorValidationOptions& options) {
  FieldErrorList errors;
  if (selector == nullptr) return errors;
  std::vector<validation::StringPair> labels;
  for (const auto& [key, value] : selector->matchLabels) labels.emplace_back(key, value);
  Append(errors, validation::ValidateLabels(labels, path.Child("matchLabels")));
  for (size_t i = 0; i < selector->matchExpressions.size(); ++i) {
    Append(errors,
           ValidateLabelSelectorRequirement(selector->matchExpressions[i],
                                            path.Child("matchExpressions").Index(i), options));
  }
  return errors;
}

}  // namespace cox::apiserver

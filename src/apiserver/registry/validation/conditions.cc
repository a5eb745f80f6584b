// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/validation/conditions.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

constexpr size_t kMaxReasonBytes = 1024;
constexpr size_t kMaxMessageBytes = 32 * 1024;

constexpr char kReasonRule[] =
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    "used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsWord(char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '_'; }

// REQUIRES: !reason.empty()
bool IsReason(std::string_view reason) {
  return IsLetter(reason.front()) && IsWord(reason.back()) &&
         std::all_of(reason.begin(), reason.end(),
                     [](char c) { return IsWord(c) || c == ',' || c == ':'; });
}

FieldErrorList ValidateCondition(const meta::v1::Condition& condition, const FieldPath& path) {
  FieldErrorList errors = validation::ValidateLabelName(condition.type, path.Child("type"));
  if (condition.status != "True" && condition.status != "False" && condition.status != "Unknown") {
    errors.push_back(FieldError::NotSupported(path.Child("status"), condition.status,
                                              {"False", "True", "Unknown"}));
  }
  if (condition.observedGeneration < 0) {
    errors.push_back(FieldError::Invalid(path.Child("observedGeneration"),
                                         condition.observedGeneration,
                                         "must be greater than or equal to zero"));
  }
  if (condition.lastTransitionTime.IsZero()) {
    errors.push_back(FieldError::Required(path.Child("lastTransitionTime"), "must be set"));
  }
  if (condition.reason.empty()) {
    errors.push_back(FieldError::Required(path.Child("reason"), "must be set"));
  } else {
    if (!IsReason(condition.reason)) {
      errors.push_back(FieldError::Invalid(path.Child("reason"), condition.reason, kReasonRule));
    }
    if (condition.reason.size() > kMaxReasonBytes) {
      errors.push_back(FieldError::TooLong(path.Child("reason"), kMaxReasonBytes));
    }
  }
  if (condition.message.size() > kMaxMessageBytes) {
    errors.push_back(FieldError::TooLong(path.Child("message"), kMaxMessageBytes));
  }
  return errors;
}

}  // namespace

FieldErrorList ValidateConditions(const List<meta::v1::Condition>& conditions,
                                  const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> types;
  for (size_t i = 0; i < conditions.size(); ++i) {
    if (!types.insert(conditions[i].type).second) {
      errors.push_back(FieldError::Duplicate(path.Index(i).Child("type"), conditions[i].type));
    }
    Append(errors, ValidateCondition(conditions[i], path.Index(i)));
  }
  return errors;
}

}  // namespace cox::apiserver

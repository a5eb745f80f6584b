// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/registry/kinds/batch/job_validation.h"
#include "base/strings.h"
#include "object/validation/names.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using batch::v1::JobSpec;
using batch::v1::PodFailurePolicyRule;
using OnExitCodes = batch::v1::PodFailurePolicyOnExitCodesRequirement;
using OnPodCondition = batch::v1::PodFailurePolicyOnPodConditionsPattern;

constexpr size_t kMaxFailureRules = 20;
constexpr size_t kMaxExitCodes = 255;
constexpr size_t kMaxPodConditions = 20;
constexpr size_t kMaxSuccessRules = 20;
constexpr size_t kMaxSucceededIndexesBytes = 64 * 1024;

constexpr std::string_view kActions[] = {"Count", "FailIndex", "FailJob", "Ignore"};
constexpr std::string_view kOperators[] = {"In", "NotIn"};
constexpr std::string_view kConditionStatuses[] = {"False", "True", "Unknown"};

// `value` must be one of `supported`.
FieldErrorList ValidateOneOf(const std::string& value, std::span<const std::string_view> supported,
                             const FieldPath& path) {
  if (value.empty()) {
    std::vector<std::string> quoted;
    for (std::string_view one : supported) quoted.push_back(Quote(one));
    return {FieldError::Required(path, "valid values: [" + Join(quoted, " ") + "]")};
  }
  if (std::find(supported.begin(), supported.end(), value) != supported.end()) return {};
  return {FieldError::NotSupported(path, value, supported)};
}

FieldValue ValueOf(const List<int32_t>& numbers) {
  std::vector<std::string> texts;
  for (int32_t number : numbers) texts.push_back(std::to_string(number));
  return FieldValue::Json("[" + Join(texts, ",") + "]");
}

FieldErrorList ValidateOnExitCodes(const OnExitCodes& codes, const FieldPath& path,
                                   const std::set<std::string_view>& containers) {
  FieldErrorList errors = ValidateOneOf(codes.operator_, kOperators, path.Child("operator"));
  if (codes.containerName && !containers.contains(*codes.containerName)) {
    errors.push_back(FieldError::Invalid(
        path.Child("containerName"), *codes.containerName,
        "must be one of the container or initContainer names in the pod template"));
  }
  FieldPath values = path.Child("values");
  if (codes.values.empty()) {
    errors.push_back(
        FieldError::Invalid(values, ValueOf(codes.values), "at least one value is required"));
  } else if (codes.values.size() > kMaxExitCodes) {
    errors.push_back(
        FieldError::TooMany(values, static_cast<int64_t>(codes.values.size()), kMaxExitCodes));
  }
  std::set<int32_t> seen;
  for (size_t i = 0; i < codes.values.size(); ++i) {
    int32_t value = codes.values[i];
    if (!seen.insert(value).second) {
      errors.push_back(FieldError::Duplicate(values.Index(i), value));
    }
    if (codes.operator_ == batch::v1::kPodFailurePolicyOnExitCodesOpIn && value == 0) {
      errors.push_back(
          FieldError::Invalid(values.Index(i), value, "must not be 0 for the In operator"));
    }
  }
  if (!std::is_sorted(codes.values.begin(), codes.values.end())) {
    errors.push_back(FieldError::Invalid(values, ValueOf(codes.values), "must be ordered"));
  }
  return errors;
}

FieldErrorList ValidateOnPodConditions(const List<OnPodCondition>& conditions,
                                       const FieldPath& path) {
  FieldErrorList errors;
  if (conditions.size() > kMaxPodConditions) {
    errors.push_back(
        FieldError::TooMany(path, static_cast<int64_t>(conditions.size()), kMaxPodConditions));
  }
  for (size_t i = 0; i < conditions.size(); ++i) {
    const OnPodCondition& condition = conditions[i];
    for (std::string& message : validation::IsQualifiedName(condition.type)) {
      errors.push_back(
          FieldError::Invalid(path.Index(i).Child("type"), condition.type, std::move(message)));
    }
    Append(errors,
           ValidateOneOf(condition.status, kConditionStatuses, path.Index(i).Child("status")));
  }
  return errors;
}

FieldErrorList ValidateFailureRule(const PodFailurePolicyRule& rule, const JobSpec& spec,
                                   const FieldPath& path,
                                   const std::set<std::string_view>& containers) {
  FieldErrorList errors = ValidateOneOf(rule.action, kActions, path.Child("action"));
  if (rule.action == batch::v1::kPodFailurePolicyActionFailIndex && !spec.backoffLimitPerIndex) {
    errors.push_back(FieldError::Invalid(path.Child("action"), rule.action,
                                         "requires the backoffLimitPerIndex to be set"));
  }
  if (rule.onExitCodes) {
    Append(errors, ValidateOnExitCodes(*rule.onExitCodes, path.Child("onExitCodes"), containers));
  }
  Append(errors, ValidateOnPodConditions(rule.onPodConditions, path.Child("onPodConditions")));
  bool has_conditions = !rule.onPodConditions.empty();
  if (rule.onExitCodes && has_conditions) {
    errors.push_back(
        FieldError::Invalid(path, FieldValue::Omit(),
                            "specifying both OnExitCodes and OnPodConditions is not supported"));
  } else if (!rule.onExitCodes && !has_conditions) {
    errors.push_back(FieldError::Invalid(
        path, FieldValue::Omit(), "specifying one of OnExitCodes and OnPodConditions is required"));
  }
  return errors;
}

FieldErrorList ValidateSuccessRule(const batch::v1::SuccessPolicyRule& rule, int64_t completions,
                                   const FieldPath& path) {
  if (!rule.succeededCount && !rule.succeededIndexes) {
    return {FieldError::Required(
        path, "at least one of succeededCount or succeededIndexes must be specified")};
  }
  FieldErrorList errors;
  int64_t indexes = 0;
  if (rule.succeededIndexes) {
    FieldPath at = path.Child("succeededIndexes");
    if (rule.succeededIndexes->size() > kMaxSucceededIndexesBytes) {
      errors.push_back(FieldError::TooLong(at, kMaxSucceededIndexesBytes));
    }
    Result<int64_t> counted = CountIndexes(*rule.succeededIndexes, completions);
    if (counted.ok()) {
      indexes = *counted;
    } else {
      errors.push_back(
          FieldError::Invalid(at, *rule.succeededIndexes,
                              "error parsing succeededIndexes: " + counted.status().message()));
    }
  }
  if (!rule.succeededCount) return errors;
  int32_t count = *rule.succeededCount;
  FieldPath at = path.Child("succeededCount");
  Append(errors, validation::ValidateNonnegativeField(count, at));
  if (count > completions) {
    errors.push_back(FieldError::Invalid(at, count,
                                         "must be less than or equal to " +
                                             std::to_string(completions) +
                                             " (the number of specified completions)"));
  }
  if (rule.succeededIndexes && count > indexes) {
    errors.push_back(FieldError::Invalid(
        at, count,
        "must be less than or equal to " + std::to_string(indexes) +
            " (the number of indexes in the specified succeededIndexes field)"));
  }
  return errors;
}

Result<int64_t> ParseIndex(std::string_view text, int64_t completions) {
  auto bad = [&](std::string_view what) {
    return Status(Reason::kBadRequest, std::string(what) + Quote(text));
  };
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+') digits.remove_prefix(1);
  int64_t index = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return bad("cannot convert string to integer for index: ");
  }
  if (index >= completions) return bad("too large index: ");
  return index;
}

}  // namespace

Result<int64_t> CountIndexes(std::string_view text, int64_t completions) {
  int64_t count = 0;
  std::optional<int64_t> last;
  auto not_rising = [](int64_t previous, int64_t current) {
    return Status(Reason::kBadRequest,
                  "non-increasing order, previous: " + std::to_string(previous) +
                      ", current: " + std::to_string(current));
  };
  if (text.empty()) return count;
  for (std::string_view interval : Split(text, ',')) {
    if (std::count(interval.begin(), interval.end(), '-') > 1) {
      return Status(Reason::kBadRequest,
                    "the fragment " + Quote(interval) +
                        " violates the requirement that an index interval can have at most two "
                        "parts separated by '-'");
    }
    CutResult ends = Cut(interval, '-');
    COX_ASSIGN_OR_RETURN(int64_t first, ParseIndex(ends.before, completions));
    if (last && first <= *last) return not_rising(*last, first);
    last = first;
    ++count;
    if (!ends.found) continue;
    COX_ASSIGN_OR_RETURN(int64_t second, ParseIndex(ends.after, completions));
    if (first >= second) return not_rising(first, second);
    last = second;
    count += second - first;
  }
  return count;
}

FieldErrorList ValidatePodFailurePolicy(const JobSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  const List<PodFailurePolicyRule>& rules = spec.podFailurePolicy->rules;
  FieldPath rules_path = path.Child("rules");
  if (rules.size() > kMaxFailureRules) {
    errors.push_back(
        FieldError::TooMany(rules_path, static_cast<int64_t>(rules.size()), kMaxFailureRules));
  }
  std::set<std::string_view> containers;
  for (const core::v1::Container& c : spec.template_.spec.containers) containers.insert(c.name);
  for (const core::v1::Container& c : spec.template_.spec.initContainers) containers.insert(c.name);
  for (size_t i = 0; i < rules.size(); ++i) {
    Append(errors, ValidateFailureRule(rules[i], spec, rules_path.Index(i), containers));
  }
  return errors;
}

FieldErrorList ValidateSuccessPolicy(const JobSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  const List<batch::v1::SuccessPolicyRule>& rules = spec.successPolicy->rules;
  FieldPath rules_path = path.Child("rules");
  if (rules.empty()) {
    errors.push_back(FieldError::Required(
        rules_path, "at least one rules must be specified when the successPolicy is specified"));
  } else if (rules.size() > kMaxSuccessRules) {
    errors.push_back(
        FieldError::TooMany(rules_path, static_cast<int64_t>(rules.size()), kMaxSuccessRules));
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    Append(errors,
           ValidateSuccessRule(rules[i], spec.completions.value_or(0), rules_path.Index(i)));
  }
  return errors;
}

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apps/int_or_percent.h"

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "object/validation/names.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

std::optional<int64_t> Percent(const IntOrString& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.string_value();
  if (!validation::IsValidPercent(text).empty()) return std::nullopt;
  int64_t percent = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size() - 1, percent);
  // Overflow: greater than any limit.
  return error == std::errc() ? percent : std::numeric_limits<int64_t>::max();
}

}  // namespace

FieldValue ValueOf(const IntOrString& value) {
  if (value.is_string()) return value.string_value();
  return value.int_value();
}

FieldErrorList ValidatePositiveIntOrPercent(const IntOrString& value, const FieldPath& path) {
  if (!value.is_string()) return validation::ValidateNonnegativeField(value.int_value(), path);
  FieldErrorList errors;
  for (std::string& message : validation::IsValidPercent(value.string_value())) {
    errors.push_back(FieldError::Invalid(path, ValueOf(value), std::move(message)));
  }
  return errors;
}

FieldErrorList ValidateNotMoreThan100Percent(const IntOrString& value, const FieldPath& path) {
  if (Percent(value).value_or(0) <= 100) return {};
  return {FieldError::Invalid(path, ValueOf(value), "must not be greater than 100%")};
}

int64_t IntOrPercentValue(const IntOrString& value) {
  return Percent(value).value_or(value.int_value());
}

}  // namespace cox::apiserver

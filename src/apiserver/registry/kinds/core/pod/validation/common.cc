// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "base/strings.h"

namespace cox::apiserver::pod {

void AddInvalid(FieldErrorList& errors, const FieldPath& path, std::string_view value,
                validation::Messages messages) {
  for (std::string& message : messages)
    errors.push_back(FieldError::Invalid(path, value, std::move(message)));
}

FieldErrorList CheckDnsLabel(std::string_view value, const FieldPath& path) {
  FieldErrorList errors;
  AddInvalid(errors, path, value, validation::IsDNS1123Label(value));
  return errors;
}

FieldErrorList CheckDnsSubdomain(std::string_view value, const FieldPath& path) {
  FieldErrorList errors;
  AddInvalid(errors, path, value, validation::IsDNS1123Subdomain(value));
  return errors;
}

FieldErrorList CheckQualifiedName(std::string_view value, const FieldPath& path) {
  FieldErrorList errors;
  AddInvalid(errors, path, value, validation::IsQualifiedName(value));
  return errors;
}

FieldErrorList CheckEnum(std::string_view value, const FieldPath& path,
                         std::initializer_list<std::string_view> supported) {
  if (value.empty()) return {FieldError::Required(path)};
  for (std::string_view one : supported)
    if (value == one) return {};
  return {FieldError::NotSupported(path, value, supported)};
}

FieldErrorList CheckNoBacksteps(std::string_view value, const FieldPath& path) {
  for (std::string_view part : Split(value, '/'))
    if (part == "..") return {FieldError::Invalid(path, value, "must not contain '..'")};
  return {};
}

FieldErrorList CheckLocalDescendingPath(std::string_view value, const FieldPath& path) {
  FieldErrorList errors;
  if (value.starts_with('/'))
    errors.push_back(FieldError::Invalid(path, value, "must be a relative path"));
  Append(errors, CheckNoBacksteps(value, path));
  return errors;
}

FieldErrorList CheckLocalNonReservedPath(std::string_view value, const FieldPath& path) {
  FieldErrorList errors = CheckLocalDescendingPath(value, path);
  // The kubelet uses such names for its own links. "../x" is already reported above.
  if (value.starts_with("..") && !value.starts_with("../"))
    errors.push_back(FieldError::Invalid(path, value, "must not start with '..'"));
  return errors;
}

FieldErrorList CheckFileMode(const std::optional<int32_t>& mode, const FieldPath& path) {
  constexpr int32_t kMax = 0777;
  if (!mode || (*mode >= 0 && *mode <= kMax)) return {};
  return {FieldError::Invalid(path, *mode,
                              "must be a number between 0 and 0777 (octal), both inclusive")};
}

void CheckRequired(FieldErrorList& errors, std::string_view value, const FieldPath& path) {
  if (value.empty()) errors.push_back(FieldError::Required(path));
}

FieldErrorList CheckPullPolicy(std::string_view policy, const FieldPath& path) {
  return CheckEnum(policy, path, {"Always", "IfNotPresent", "Never"});
}

}  // namespace cox::apiserver::pod

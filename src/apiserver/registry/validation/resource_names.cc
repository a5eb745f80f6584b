// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/validation/resource_names.h"

#include <algorithm>
#include <string>

#include "apiserver/registry/validation/field_checks.h"
#include "object/validation/names.h"

namespace cox::apiserver {
namespace {

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

constexpr std::string_view kStandardContainer[] = {"cpu", "ephemeral-storage", "memory"};

constexpr std::string_view kCounted[] = {
    "pods",
    "resourcequotas",
    "services",
    "secrets",
    "replicationcontrollers",
    "configmaps",
    "services.nodeports",
    "persistentvolumeclaims",
    "services.loadbalancers",
};

constexpr std::string_view kStandardQuota[] = {
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
};

bool IsStandardResourceName(std::string_view name) {
  return Contains(kStandardQuota, name) || Contains(kCounted, name) || name == "storage" ||
         IsHugePageResourceName(name) || name.starts_with("requests.hugepages-");
}

}  // namespace

bool IsHugePageResourceName(std::string_view name) { return name.starts_with("hugepages-"); }

bool IsNativeResource(std::string_view name) {
  return name.find('/') == std::string_view::npos ||
         name.find("kubernetes.io/") != std::string_view::npos;
}

bool IsExtendedResourceName(std::string_view name) {
  if (IsNativeResource(name) || name.starts_with("requests.")) return false;
  // "requests.<name>" is its name in quotas and must be valid too.
  return validation::IsQualifiedName("requests." + std::string(name)).empty();
}

bool IsStandardQuotaResourceName(std::string_view name) {
  return Contains(kStandardQuota, name) || Contains(kCounted, name) ||
         IsHugePageResourceName(name) || name.starts_with("requests.hugepages-");
}

bool IsIntegerResourceName(std::string_view name) {
  return Contains(kCounted, name) || IsExtendedResourceName(name);
}

bool IsOvercommitAllowed(std::string_view name) {
  return IsNativeResource(name) && !IsHugePageResourceName(name);
}

FieldErrorList ValidateResourceName(std::string_view name, const FieldPath& path) {
  FieldErrorList errors;
  AppendInvalid(errors, path, name, validation::IsQualifiedName(name));
  if (errors.empty() && name.find('/') == std::string_view::npos && !IsStandardResourceName(name)) {
    errors.push_back(
        FieldError::Invalid(path, name, "must be a standard resource type or fully qualified"));
  }
  return errors;
}

FieldErrorList ValidateContainerResourceName(std::string_view name, const FieldPath& path) {
  FieldErrorList errors = ValidateResourceName(name, path);
  if (name.find('/') == std::string_view::npos) {
    if (!Contains(kStandardContainer, name) && !IsHugePageResourceName(name)) {
      errors.push_back(
          FieldError::Invalid(path, name, "must be a standard resource for containers"));
    }
  } else if (!IsNativeResource(name) && !IsExtendedResourceName(name)) {
    errors.push_back(
        FieldError::Invalid(path, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

FieldErrorList ValidateQuotaResourceName(std::string_view name, const FieldPath& path) {
  FieldErrorList errors = ValidateResourceName(name, path);
  if (name.find('/') == std::string_view::npos && !IsStandardQuotaResourceName(name)) {
    errors.push_back(FieldError::Invalid(path, name, "must be a standard resource for quota"));
  }
  return errors;
}

FieldErrorList ValidateResourceQuantityValue(std::string_view name, const Quantity& value,
                                             const FieldPath& path) {
  FieldErrorList errors;
  if (value.Sign() < 0) {
    errors.push_back(
        FieldError::Invalid(path, ValueOf(value), "must be greater than or equal to 0"));
  }
  if (IsIntegerResourceName(name) && value.MilliValue() % 1000 != 0) {
    errors.push_back(FieldError::Invalid(path, ValueOf(value), "must be an integer"));
  }
  return errors;
}

}  // namespace cox::apiserver

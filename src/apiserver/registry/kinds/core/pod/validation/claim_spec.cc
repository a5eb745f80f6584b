// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "apiserver/registry/validation/label_selector_validation.h"

namespace cox::apiserver::pod {
namespace {

FieldErrorList CheckAccessModes(const List<std::string>& modes, const FieldPath& path) {
  FieldErrorList errors;
  if (modes.empty())
    errors.push_back(FieldError::Required(path, "at least 1 access mode is required"));
  static constexpr std::string_view kModes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                                "ReadWriteOncePod"};
  bool alone = false, others = false;
  for (const std::string& mode : modes) {
    if (mode == "ReadWriteOncePod") {
      alone = true;
    } else if (std::find(std::begin(kModes), std::end(kModes), mode) != std::end(kModes)) {
      others = true;
    } else {
      errors.push_back(FieldError::NotSupported(path, mode, kModes));
    }
  }
  if (alone && others) {
    errors.push_back(
        FieldError::Forbidden(path, "may not use ReadWriteOncePod with other access modes"));
  }
  return errors;
}

FieldErrorList CheckStorage(const Map<Quantity>& requests, const FieldPath& path) {
  const Quantity* storage = requests.Get("storage");
  const FieldPath at = path.Key("storage");
  if (storage == nullptr) return {FieldError::Required(at)};
  if (storage->Sign() > 0) return {};
  return {FieldError::Invalid(at, storage->ToString(), "must be greater than zero")};
}

// References to data sources of a volume: a claim, or an object of another group.
template <class Reference>
FieldErrorList CheckDataSource(const Reference& source, const FieldPath& path) {
  FieldErrorList errors;
  CheckRequired(errors, source.name, path.Child("name"));
  CheckRequired(errors, source.kind, path.Child("kind"));
  std::string_view group = source.apiGroup ? std::string_view(*source.apiGroup) : "";
  if (group.empty() && source.kind != "PersistentVolumeClaim") {
    errors.push_back(FieldError::Invalid(
        path, source.kind,
        "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (!group.empty()) Append(errors, CheckDnsSubdomain(group, path.Child("apiGroup")));
  return errors;
}

}  // namespace

FieldErrorList CheckCsiDriverName(std::string_view name, const FieldPath& path) {
  constexpr size_t kMaxLength = 63;
  if (name.empty()) return {FieldError::Required(path)};
  FieldErrorList errors;
  if (name.size() > kMaxLength) errors.push_back(FieldError::TooLong(path, kMaxLength));
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  AddInvalid(errors, path, name, validation::IsDNS1123Subdomain(lower));
  return errors;
}

FieldErrorList CheckClaimSpec(const core::v1::PersistentVolumeClaimSpec& spec,
                              const FieldPath& path) {
  FieldErrorList errors = CheckAccessModes(spec.accessModes, path.Child("accessModes"));
  Append(errors, ValidateLabelSelector(spec.selector.get(), path.Child("selector")));
  Append(errors, CheckStorage(spec.resources.requests, path.Child("resources")));
  if (spec.storageClassName && !spec.storageClassName->empty())
    Append(errors, CheckDnsSubdomain(*spec.storageClassName, path.Child("storageClassName")));
  if (spec.volumeMode && *spec.volumeMode != "Block" && *spec.volumeMode != "Filesystem") {
    errors.push_back(FieldError::NotSupported(path.Child("volumeMode"), *spec.volumeMode,
                                              {"Block", "Filesystem"}));
  }
  if (spec.dataSource) Append(errors, CheckDataSource(*spec.dataSource, path.Child("dataSource")));
  if (spec.dataSourceRef)
    Append(errors, CheckDataSource(*spec.dataSourceRef, path.Child("dataSourceRef")));
  if (spec.volumeAttributesClassName && !spec.volumeAttributesClassName->empty()) {
    Append(errors, CheckDnsSubdomain(*spec.volumeAttributesClassName,
                                     path.Child("volumeAttributesClassName")));
  }
  return errors;
}

}  // namespace cox::apiserver::pod

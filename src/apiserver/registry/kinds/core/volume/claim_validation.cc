// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/volume/claim_validation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "apiserver/registry/kinds/core/volume/indent_json.h"
#include "apiserver/registry/kinds/core/volume/persistent_volume_validation.h"
#include "apiserver/registry/validation/field_messages.h"
#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "apiserver/registry/validation/text_diff.h"
#include "object/type/equal.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

namespace cv = core::v1;
using cv::PersistentVolumeClaim;
using cv::PersistentVolumeClaimSpec;

// The group of VolumeSnapshots. In two parts, because the source check mistakes it for a package
// host.
constexpr std::string_view kSnapshotGroup =
    "snapshot"
    ".storage.k8s.io";

// For dataSource and dataSourceRef.
template <class Reference>
FieldErrorList ValidateDataSource(const Reference& source, const FieldPath& path) {
  FieldErrorList errors;
  if (source.name.empty()) errors.push_back(FieldError::Required(path.Child("name")));
  if (source.kind.empty()) errors.push_back(FieldError::Required(path.Child("kind")));
  const std::string group = source.apiGroup.value_or("");
  if (group.empty() && source.kind != "PersistentVolumeClaim") {
    errors.push_back(FieldError::Invalid(
        path, source.kind,
        "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (!group.empty()) {
    AppendInvalid(errors, path.Child("apiGroup"), group, validation::IsDNS1123Subdomain(group));
  }
  return errors;
}

bool SameSource(const cv::TypedLocalObjectReference* source, const cv::TypedObjectReference* ref) {
  if (source == nullptr || ref == nullptr) return source == nullptr && ref == nullptr;
  return source->apiGroup == ref->apiGroup && source->kind == ref->kind &&
         source->name == ref->name;
}

bool IsClaimOrSnapshot(const cv::TypedLocalObjectReference& source) {
  const std::string group = source.apiGroup.value_or("");
  return (group.empty() && source.kind == "PersistentVolumeClaim") ||
         (group == kSnapshotGroup && source.kind == "VolumeSnapshot");
}

// The new and the old spec without the differences that are allowed.
struct Compared {
  PersistentVolumeClaimSpec now, old;
};

Compared WithoutAllowedChanges(const PersistentVolumeClaim& claim, const PersistentVolumeClaim& old,
                               FieldErrorList* errors) {
  Compared c{claim.spec, old.spec};
  // Binding sets the volume name once.
  if (c.old.volumeName.empty()) c.old.volumeName = c.now.volumeName;
  const std::string* old_beta = old.metadata.annotations.Get(kBetaStorageClass);
  const std::string* new_beta = claim.metadata.annotations.Get(kBetaStorageClass);
  const auto &old_class = old.spec.storageClassName, &new_class = claim.spec.storageClassName;
  if (old_beta != nullptr && !old_class && new_class && *new_class == *old_beta) {
    // The class moves from the annotation to the field.
    c.now.storageClassName.reset();
  } else {
    const std::string old_text = old_beta != nullptr ? *old_beta : "";
    const std::string new_text = new_beta != nullptr ? *new_beta : "";
    if (old_text != new_text) {
      errors->push_back(validation::ImmutableField(
          FieldPath("metadata").Child("annotations").Key(kBetaStorageClass), new_text));
    }
    // A claim without a class may get the default class later.
    if (old_beta == nullptr && !old_class && new_class) c.now.storageClassName = old_class;
  }
  if (claim.status.phase == "Bound") {
    const Quantity* old_size = old.spec.resources.requests.Get("storage");
    if (!c.now.resources.requests.empty() && old_size != nullptr) {
      c.now.resources.requests["storage"] = *old_size;
    }
    c.now.volumeAttributesClassName = c.old.volumeAttributesClassName;
  }
  return c;
}

std::string SpecText(const PersistentVolumeClaimSpec& spec) {
  return IndentJson(InternalValue(spec).text());
}

// After a failed expansion the request may be reduced, but it must exceed the capacity.
FieldErrorList ValidateSize(const PersistentVolumeClaim& claim, const PersistentVolumeClaim& old) {
  auto storage = [](const Map<Quantity>& resources) {
    const Quantity* size = resources.Get("storage");
    return size != nullptr ? *size : Quantity();
  };
  const Quantity now = storage(claim.spec.resources.requests);
  if (now >= storage(old.spec.resources.requests)) return {};
  if (now > storage(old.status.capacity)) return {};
  return {
      FieldError::Forbidden(FieldPath("spec").Child("resources").Child("requests").Child("storage"),
                            "field can not be less than status.capacity")};
}

// "storage", or a custom name with a prefix outside of kubernetes.io.
FieldErrorList ValidateResourceName(const std::string& name, const FieldPath& path) {
  if (name == "storage") return {};
  FieldErrorList errors;
  AppendInvalid(errors, path, name, validation::IsQualifiedName(name));
  const size_t slash = name.find('/');
  const std::string_view prefix = std::string_view(name).substr(0, slash);
  const bool ours = prefix == "kubernetes.io" || prefix.ends_with(".kubernetes.io");
  if (slash == std::string::npos || ours) {
    errors.push_back(FieldError::Invalid(path, name,
                                         "must be a standard resource for PVC or must be a custom "
                                         "resource name that is not prefixed with kubernetes.io"));
  }
  return errors;
}

constexpr std::string_view kResizeStates[] = {"ControllerResizeInProgress",
                                              "ControllerResizeInfeasible", "NodeResizePending",
                                              "NodeResizeInProgress", "NodeResizeInfeasible"};

}  // namespace

FieldErrorList ValidateClaimSpec(const PersistentVolumeClaimSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  const FieldPath modes = path.Child("accessModes");
  if (spec.accessModes.empty()) {
    errors.push_back(FieldError::Required(modes, "at least 1 access mode is required"));
  }
  if (spec.selector) {
    Append(errors, ValidateLabelSelector(*spec.selector, path.Child("selector")));
  }
  Append(errors, ValidateAccessModes(spec.accessModes, modes));
  const FieldPath size_path = path.Child("resources").Key("storage");
  if (const Quantity* size = spec.resources.requests.Get("storage"); size == nullptr) {
    errors.push_back(FieldError::Required(size_path));
  } else {
    Append(errors, ValidatePositiveQuantity(*size, size_path));
  }
  auto class_name = [&](const std::optional<std::string>& name, std::string_view field) {
    if (!name || name->empty()) return;
    AppendInvalid(errors, path.Child(field), *name, validation::NameIsDNSSubdomain(*name, false));
  };
  class_name(spec.storageClassName, "storageClassName");
  Append(errors, ValidateVolumeMode(spec.volumeMode, path.Child("volumeMode")));
  if (spec.dataSource) {
    Append(errors, ValidateDataSource(*spec.dataSource, path.Child("dataSource")));
  }
  if (spec.dataSourceRef) {
    Append(errors, ValidateDataSource(*spec.dataSourceRef, path.Child("dataSourceRef")));
  }
  if (!SameSource(spec.dataSource.get(), spec.dataSourceRef.get())) {
    // Upstream's value is a Go path object, which has no visible fields.
    errors.push_back(FieldError::Invalid(path, FieldValue::Json("{}"), "must match dataSourceRef"));
  }
  class_name(spec.volumeAttributesClassName, "volumeAttributesClassName");
  return errors;
}

FieldErrorList ValidateClaimUpdate(const PersistentVolumeClaim& claim,
                                   const PersistentVolumeClaim& old) {
  FieldErrorList errors = ValidateClaimSpec(claim.spec, FieldPath("spec"));
  const Compared c = WithoutAllowedChanges(claim, old, &errors);
  if (!DeepEqual(c.now, c.old)) {
    errors.push_back(
        FieldError::Forbidden(FieldPath("spec"),
                              "spec is immutable after creation except resources.requests and "
                              "volumeAttributesClassName for bound claims\n" +
                                  UnifiedDiff(SpecText(c.old), SpecText(c.now))));
  }
  Append(errors, ValidateSize(claim, old));
  if (claim.spec.volumeMode != old.spec.volumeMode) {
    errors.push_back(validation::ImmutableField(
        FieldPath("volumeMode"),
        claim.spec.volumeMode ? FieldValue(*claim.spec.volumeMode) : FieldValue(nullptr)));
  }
  if (claim.status.phase == "Bound" && old.spec.volumeAttributesClassName &&
      !claim.spec.volumeAttributesClassName) {
    errors.push_back(FieldError::Forbidden(FieldPath("spec").Child("volumeAttributesClassName"),
                                           "update from non-nil value to nil is forbidden"));
  }
  return errors;
}

FieldErrorList ValidateClaimStatusUpdate(const PersistentVolumeClaim& claim) {
  FieldErrorList errors;
  if (claim.spec.accessModes.empty()) {
    errors.push_back(FieldError::Required(FieldPath("Spec").Child("accessModes")));
  }
  const FieldPath status("status");
  Append(errors, ValidateResourceList(claim.status.capacity, status.Child("capacity")));
  const FieldPath states = status.Child("allocatedResourceStatus");
  for (const auto& [name, state] : claim.status.allocatedResourceStatuses) {
    Append(errors, ValidateResourceName(name, states.Key(name)));
    if (std::find(std::begin(kResizeStates), std::end(kResizeStates), state) ==
        std::end(kResizeStates)) {
      errors.push_back(FieldError::NotSupported(states.Key(name), state, kResizeStates));
    }
  }
  const FieldPath allocated = status.Child("allocatedResources");
  for (const auto& [name, quantity] : claim.status.allocatedResources) {
    Append(errors, ValidateResourceName(name, allocated.Key(name)));
    if (quantity.Sign() < 0) {
      errors.push_back(FieldError::Invalid(allocated.Key(name), quantity.Value(),
                                           "must be a valid resource quantity"));
    }
  }
  return errors;
}

std::vector<std::string> WarningsForClaim(const PersistentVolumeClaim& claim) {
  std::vector<std::string> warnings;
  if (claim.metadata.annotations.contains(kBetaStorageClass)) {
    warnings.push_back(BetaStorageClassWarning());
  }
  const FieldPath resources = FieldPath("spec").Child("resources");
  for (std::string& warning :
       FractionalBytesWarning(claim.spec.resources.requests, resources.Child("requests"))) {
    warnings.push_back(std::move(warning));
  }
  for (std::string& warning :
       FractionalBytesWarning(claim.spec.resources.limits, resources.Child("limits"))) {
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

void NormalizeDataSources(PersistentVolumeClaimSpec& spec, const PersistentVolumeClaimSpec* old) {
  // Sources in another namespace are an alpha feature that is off.
  const bool cross_namespace_in_use =
      old != nullptr && old->dataSourceRef && old->dataSourceRef->namespace_;
  if (spec.dataSourceRef && !cross_namespace_in_use) spec.dataSourceRef->namespace_.reset();
  const bool in_use = old != nullptr && old->dataSource;
  if (spec.dataSource && !spec.dataSourceRef && !in_use && !IsClaimOrSnapshot(*spec.dataSource)) {
    spec.dataSource.reset();
  }
  if (spec.dataSource && !spec.dataSourceRef) {
    const cv::TypedLocalObjectReference& source = *spec.dataSource;
    spec.dataSourceRef = cv::TypedObjectReference{
        .apiGroup = source.apiGroup, .kind = source.kind, .name = source.name, .namespace_ = {}};
  } else if (spec.dataSourceRef && !spec.dataSource &&
             spec.dataSourceRef->namespace_.value_or("").empty()) {
    const cv::TypedObjectReference& ref = *spec.dataSourceRef;
    spec.dataSource =
        cv::TypedLocalObjectReference{.apiGroup = ref.apiGroup, .kind = ref.kind, .name = ref.name};
  }
}

}  // namespace cox::apiserver

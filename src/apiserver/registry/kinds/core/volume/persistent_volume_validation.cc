// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/volume/persistent_volume_validation.h"

#include <algorithm>
#include <utility>

#include "apiserver/registry/kinds/core/volume/indent_json.h"
#include "apiserver/registry/kinds/core/volume/node_affinity_validation.h"
#include "apiserver/registry/kinds/core/volume/volume_source_validation.h"
#include "apiserver/registry/validation/field_messages.h"
#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/text_diff.h"
#include "object/codec/json/json.h"
#include "object/type/equal.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

namespace cv = core::v1;

constexpr std::string_view kMountOptions = "volume.beta.kubernetes.io/mount-options";
constexpr std::string_view kNotInline = "may not be specified in the context of inline volumes";

// Whether the path is equivalent to "/".
bool IsRoot(std::string_view path) {
  int depth = 0;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part == "..") {
      depth = std::max(0, depth - 1);
    } else if (!part.empty() && part != ".") {
      ++depth;
    }
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return depth == 0;
}

FieldErrorList ValidateCapacity(const Map<Quantity>& capacity, const FieldPath& path) {
  FieldErrorList errors;
  if (capacity.empty()) errors.push_back(FieldError::Required(path));
  if (!capacity.contains("storage") || capacity.size() > 1) {
    std::string json = "{";
    for (const auto& [name, quantity] : capacity) {
      if (json.size() > 1) json += ',';
      json::WriteString(name, &json);
      json += ':';
      json::WriteString(quantity.ToString(), &json);
    }
    errors.push_back(
        FieldError::NotSupported(path, FieldValue::Json(std::move(json) + "}"), {"storage"}));
  }
  for (const auto& [name, quantity] : capacity) {
    if (quantity.Sign() < 0) {
      errors.push_back(FieldError::Invalid(path.Key(name), quantity.Value(),
                                           "must be a valid resource quantity"));
    }
    Append(errors, ValidatePositiveQuantity(quantity, path.Key(name)));
  }
  return errors;
}

// Fields that inline specs must not have.
FieldErrorList ValidateOwnFields(const cv::PersistentVolumeSpec& spec, bool is_inline,
                                 const FieldPath& path) {
  FieldErrorList errors;
  auto allowed = [&](bool set, std::string_view field) {
    if (set && is_inline) {
      errors.push_back(FieldError::Forbidden(path.Child(field), std::string(kNotInline)));
    }
    return set && !is_inline;
  };
  const cv::PersistentVolumeSource& source = spec.persistentVolumeSource;
  if (source.hostPath && IsRoot(source.hostPath->path) &&
      spec.persistentVolumeReclaimPolicy == "Recycle") {
    errors.push_back(FieldError::Forbidden(path.Child("persistentVolumeReclaimPolicy"),
                                           "may not be 'recycle' for a hostPath mount of '/'"));
  }
  if (allowed(!spec.storageClassName.empty(), "storageClassName")) {
    AppendInvalid(errors, path.Child("storageClassName"), spec.storageClassName,
                  validation::NameIsDNSSubdomain(spec.storageClassName, false));
  }
  if (allowed(spec.volumeMode.has_value(), "volumeMode")) {
    Append(errors, ValidateVolumeMode(spec.volumeMode, path.Child("volumeMode")));
  }
  if (allowed(spec.volumeAttributesClassName.has_value(), "volumeAttributesClassName")) {
    const FieldPath at = path.Child("volumeAttributesClassName");
    if (spec.volumeAttributesClassName->empty()) {
      errors.push_back(FieldError::Required(at, "an empty string is disallowed"));
    } else {
      AppendInvalid(errors, at, *spec.volumeAttributesClassName,
                    validation::NameIsDNSSubdomain(*spec.volumeAttributesClassName, false));
    }
    if (!source.csi) {
      errors.push_back(FieldError::Required(
          path.Child("csi"), "has to be specified when using volumeAttributesClassName"));
    }
  }
  return errors;
}

// Volumes that support mount options. Others reject the annotation.
bool TakesMountOptions(const cv::PersistentVolumeSource& s) {
  return s.gcePersistentDisk || s.awsElasticBlockStore || s.glusterfs || s.nfs || s.rbd ||
         s.quobyte || s.iscsi || s.cinder || s.cephfs || s.azureFile || s.vsphereVolume ||
         s.azureDisk || s.photonPersistentDisk;
}

// The source as errors contain it: all sources, in the order of Go's internal struct.
std::string SourceText(const cv::PersistentVolumeSource& s) {
  std::string json = "{";
  auto add = [&](std::string_view name, const auto& source) {
    if (json.size() > 1) json += ',';
    json += '"';
    json += name;
    json += "\":";
    json += source ? InternalValue(*source).text() : "null";
  };
  add("GCEPersistentDisk", s.gcePersistentDisk);
  add("AWSElasticBlockStore", s.awsElasticBlockStore);
  add("HostPath", s.hostPath);
  add("Glusterfs", s.glusterfs);
  add("NFS", s.nfs);
  add("RBD", s.rbd);
  add("Quobyte", s.quobyte);
  add("ISCSI", s.iscsi);
  add("FlexVolume", s.flexVolume);
  add("Cinder", s.cinder);
  add("CephFS", s.cephfs);
  add("FC", s.fc);
  add("Flocker", s.flocker);
  add("AzureFile", s.azureFile);
  add("VsphereVolume", s.vsphereVolume);
  add("AzureDisk", s.azureDisk);
  add("PhotonPersistentDisk", s.photonPersistentDisk);
  add("PortworxVolume", s.portworxVolume);
  add("ScaleIO", s.scaleIO);
  add("Local", s.local);
  add("StorageOS", s.storageos);
  add("CSI", s.csi);
  return IndentJson(json + "}");
}

bool SourceChanged(const cv::PersistentVolumeSource& now, const cv::PersistentVolumeSource& old,
                   cv::PersistentVolumeSource* compared) {
  *compared = now;
  // Volumes from before drivers supported expansion may get the expansion secret later.
  if (compared->csi && old.csi && compared->csi->controllerExpandSecretRef &&
      !old.csi->controllerExpandSecretRef) {
    compared->csi->controllerExpandSecretRef.reset();
  }
  return !DeepEqual(*compared, old);
}

}  // namespace

FieldErrorList ValidateAccessModes(std::span<const std::string> modes, const FieldPath& path) {
  FieldErrorList errors;
  bool once_pod = false, other = false;
  for (const std::string& mode : modes) {
    if (mode == "ReadWriteOncePod") {
      once_pod = true;
    } else if (mode == "ReadWriteOnce" || mode == "ReadOnlyMany" || mode == "ReadWriteMany") {
      other = true;
    } else {
      errors.push_back(FieldError::NotSupported(
          path, mode, {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}));
    }
  }
  if (once_pod && other) {
    errors.push_back(
        FieldError::Forbidden(path, "may not use ReadWriteOncePod with other access modes"));
  }
  return errors;
}

FieldErrorList ValidateVolumeMode(const std::optional<std::string>& mode, const FieldPath& path) {
  if (!mode || *mode == "Block" || *mode == "Filesystem") return {};
  return {FieldError::NotSupported(path, *mode, {"Block", "Filesystem"})};
}

FieldErrorList ValidateResourceList(const Map<Quantity>& resources, const FieldPath& path) {
  FieldErrorList errors;
  for (const auto& [name, quantity] : resources) {
    if (quantity.Sign() < 0) {
      errors.push_back(FieldError::Invalid(path.Key(name), quantity.Value(),
                                           "must be a valid resource quantity"));
    }
  }
  return errors;
}

FieldErrorList ValidatePositiveQuantity(const Quantity& quantity, const FieldPath& path) {
  if (quantity.Sign() > 0) return {};
  return {FieldError::Invalid(path, quantity.ToString(), "must be greater than zero")};
}

std::vector<std::string> FractionalBytesWarning(const Map<Quantity>& resources,
                                                const FieldPath& path) {
  const Quantity* storage = resources.Get("storage");
  if (storage == nullptr || storage->MilliValue() % 1000 == 0) return {};
  return {path.Key("storage").ToString() + ": fractional byte value \"" + storage->ToString() +
          "\" is invalid, must be an integer"};
}

std::string FormatAccessModes(std::span<const std::string> modes) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"},
  };
  std::string text;
  for (const auto& [mode, abbreviation] : kShort) {
    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) continue;
    if (!text.empty()) text += ',';
    text += abbreviation;
  }
  return text;
}

std::string BetaStorageClassWarning() {
  return "metadata.annotations[" + std::string(kBetaStorageClass) +
         "]: deprecated since v1.8; use \"storageClassName\" attribute instead";
}

FieldErrorList ValidatePersistentVolumeSpec(const cv::PersistentVolumeSpec& spec,
                                            VolumeSpecPlace place, const FieldPath& path) {
  const bool is_inline = place == VolumeSpecPlace::kInline;
  FieldErrorList errors;
  auto forbid_inline = [&](bool set, std::string_view field) {
    if (set && is_inline) {
      errors.push_back(FieldError::Forbidden(path.Child(field), std::string(kNotInline)));
    }
  };
  forbid_inline(spec.claimRef.has_value(), "claimRef");
  forbid_inline(!spec.capacity.empty(), "capacity");
  if (is_inline && !spec.persistentVolumeSource.csi) {
    errors.push_back(FieldError::Required(path.Child("csi"),
                                          "has to be specified in the context of inline volumes"));
  }
  const FieldPath modes = path.Child("accessModes");
  if (spec.accessModes.empty()) errors.push_back(FieldError::Required(modes));
  Append(errors, ValidateAccessModes(spec.accessModes, modes));
  if (!is_inline) Append(errors, ValidateCapacity(spec.capacity, path.Child("capacity")));
  const std::string& reclaim = spec.persistentVolumeReclaimPolicy;
  if (!reclaim.empty()) {
    forbid_inline(true, "persistentVolumeReclaimPolicy");
    if (reclaim != "Delete" && reclaim != "Recycle" && reclaim != "Retain") {
      errors.push_back(FieldError::NotSupported(path.Child("persistentVolumeReclaimPolicy"),
                                                reclaim, {"Delete", "Recycle", "Retain"}));
    }
  }
  if (spec.nodeAffinity) {
    Append(errors, ValidateVolumeNodeAffinity(*spec.nodeAffinity, path.Child("nodeAffinity")));
  }
  Append(errors, ValidateVolumeSource(spec.persistentVolumeSource, path));
  if (spec.persistentVolumeSource.local && !spec.nodeAffinity) {
    errors.push_back(
        FieldError::Required(path.Child("nodeAffinity"), "Local volume requires node affinity"));
  }
  Append(errors, ValidateOwnFields(spec, is_inline, path));
  return errors;
}

FieldErrorList ValidatePersistentVolume(const cv::PersistentVolume& volume) {
  FieldErrorList errors =
      ValidatePersistentVolumeSpec(volume.spec, VolumeSpecPlace::kObject, FieldPath("spec"));
  if (volume.metadata.annotations.contains(kMountOptions) &&
      !TakesMountOptions(volume.spec.persistentVolumeSource)) {
    errors.push_back(
        FieldError::Forbidden(FieldPath("metadata").Child("annotations").Child(kMountOptions),
                              "may not specify mount options for this volume type"));
  }
  return errors;
}

FieldErrorList ValidatePersistentVolumeUpdate(const cv::PersistentVolume& volume,
                                              const cv::PersistentVolume& old) {
  FieldErrorList errors = ValidatePersistentVolume(volume);
  const FieldPath spec("spec");
  const cv::PersistentVolumeSource& old_source = old.spec.persistentVolumeSource;
  cv::PersistentVolumeSource source;
  if (SourceChanged(volume.spec.persistentVolumeSource, old_source, &source)) {
    errors.push_back(
        FieldError::Forbidden(spec.Child("persistentvolumesource"),
                              "spec.persistentvolumesource is immutable after creation\n" +
                                  UnifiedDiff(SourceText(old_source), SourceText(source))));
  }
  if (volume.spec.volumeMode != old.spec.volumeMode) {
    errors.push_back(validation::ImmutableField(
        FieldPath("volumeMode"),
        volume.spec.volumeMode ? FieldValue(*volume.spec.volumeMode) : FieldValue(nullptr)));
  }
  if (old.spec.nodeAffinity) {
    Append(errors,
           ValidateVolumeNodeAffinityUpdate(volume.spec.nodeAffinity.get(), *old.spec.nodeAffinity,
                                            FieldPath("nodeAffinity")));
  }
  if (old.spec.volumeAttributesClassName && !volume.spec.volumeAttributesClassName) {
    errors.push_back(FieldError::Forbidden(spec.Child("volumeAttributesClassName"),
                                           "update from non-nil value to nil is forbidden"));
  }
  return errors;
}

std::vector<std::string> WarningsForPersistentVolume(const cv::PersistentVolume& volume) {
  std::vector<std::string> warnings;
  if (volume.metadata.annotations.contains(kBetaStorageClass)) {
    warnings.push_back(BetaStorageClassWarning());
  }
  if (volume.metadata.annotations.contains(kMountOptions)) {
    warnings.push_back("metadata.annotations[" + std::string(kMountOptions) +
                       "]: deprecated since v1.31; use \"mountOptions\" attribute instead");
  }
  const cv::PersistentVolumeSpec& spec = volume.spec;
  if (spec.persistentVolumeReclaimPolicy == "Recycle") {
    warnings.push_back(
        "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, "
        "the recommended approach is to use dynamic provisioning.");
  }
  auto add = [&](std::vector<std::string> more) {
    warnings.insert(warnings.end(), more.begin(), more.end());
  };
  if (spec.nodeAffinity && spec.nodeAffinity->required) {
    add(WarningsForNodeSelector(*spec.nodeAffinity->required,
                                FieldPath("spec").Child("nodeAffinity").Child("required")));
  }
  add(FractionalBytesWarning(spec.capacity, FieldPath("spec").Child("capacity")));
  const cv::PersistentVolumeSource& source = spec.persistentVolumeSource;
  auto deprecated = [&](bool used, std::string_view text) {
    if (used) warnings.emplace_back(text);
  };
  deprecated(source.cephfs.has_value(),
             "spec.cephfs: deprecated in v1.28, non-functional in v1.31+");
  deprecated(source.photonPersistentDisk.has_value(),
             "spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+");
  deprecated(source.rbd.has_value(), "spec.rbd: deprecated in v1.28, non-functional in v1.31+");
  deprecated(source.scaleIO.has_value(),
             "spec.scaleIO: deprecated in v1.16, non-functional in v1.22+");
  deprecated(source.storageos.has_value(),
             "spec.storageOS: deprecated in v1.22, non-functional in v1.25+");
  deprecated(source.glusterfs.has_value(),
             "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+");
  return warnings;
}

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"

namespace cox::apiserver::pod {
namespace {

using core::v1::VolumeDevice;
using core::v1::VolumeMount;

const Volume* FindVolume(const List<Volume>& volumes, std::string_view name) {
  auto at = std::find_if(volumes.begin(), volumes.end(),
                         [&](const Volume& volume) { return volume.name == name; });
  return at == volumes.end() ? nullptr : &*at;
}

FieldErrorList CheckPropagation(const VolumeMount& mount, const Container& container,
                                const FieldPath& path) {
  if (!mount.mountPropagation) return {};
  std::string_view mode = *mount.mountPropagation;
  if (mode != "None" && mode != "HostToContainer" && mode != "Bidirectional") {
    return {FieldError::NotSupported(path, mode, {"Bidirectional", "HostToContainer", "None"})};
  }
  bool privileged =
      container.securityContext && container.securityContext->privileged.value_or(false);
  if (mode == "Bidirectional" && !privileged) {
    return {FieldError::Forbidden(
        path, "Bidirectional mount propagation is available only to privileged containers")};
  }
  return {};
}

FieldErrorList CheckRecursiveReadOnly(const VolumeMount& mount, const FieldPath& path) {
  if (!mount.recursiveReadOnly || *mount.recursiveReadOnly == "Disabled") return {};
  std::string_view mode = *mount.recursiveReadOnly;
  if (mode != "Enabled" && mode != "IfPossible")
    return {FieldError::NotSupported(path, mode, {"Disabled", "Enabled", "IfPossible"})};
  FieldErrorList errors;
  if (!mount.readOnly) {
    errors.push_back(FieldError::Forbidden(path, "may only be specified when readOnly is true"));
  }
  if (mount.mountPropagation && *mount.mountPropagation != "None") {
    errors.push_back(FieldError::Forbidden(
        path, "may only be specified when mountPropagation is None or not specified"));
  }
  return errors;
}

// A container can use a volume, and a path, either as a file system or as a block device.
FieldErrorList CheckMountAgainstDevices(const VolumeMount& mount, const List<VolumeDevice>& devices,
                                        const FieldPath& path) {
  FieldErrorList errors;
  auto has = [&](auto member, std::string_view value) {
    return std::any_of(devices.begin(), devices.end(),
                       [&](const VolumeDevice& device) { return device.*member == value; });
  };
  if (has(&VolumeDevice::name, mount.name)) {
    errors.push_back(FieldError::Invalid(path.Child("name"), mount.name,
                                         "must not already exist in volumeDevices"));
  }
  if (has(&VolumeDevice::devicePath, mount.mountPath)) {
    errors.push_back(FieldError::Invalid(path.Child("mountPath"), mount.mountPath,
                                         "must not already exist as a path in volumeDevices"));
  }
  return errors;
}

FieldErrorList CheckDeviceAgainstMounts(const VolumeDevice& device, const List<VolumeMount>& mounts,
                                        const FieldPath& path) {
  FieldErrorList errors;
  auto has = [&](auto member, std::string_view value) {
    return std::any_of(mounts.begin(), mounts.end(),
                       [&](const VolumeMount& mount) { return mount.*member == value; });
  };
  if (has(&VolumeMount::name, device.name)) {
    errors.push_back(FieldError::Invalid(path.Child("name"), device.name,
                                         "must not already exist in volumeMounts"));
  }
  if (has(&VolumeMount::mountPath, device.devicePath)) {
    errors.push_back(FieldError::Invalid(path.Child("devicePath"), device.devicePath,
                                         "must not already exist as a path in volumeMounts"));
  }
  return errors;
}

}  // namespace

// Errors inside of a mount are at the list, without the index, as upstream.
FieldErrorList CheckVolumeMounts(const Container& container, const List<Volume>& volumes,
                                 const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> mount_points;
  for (size_t i = 0; i < container.volumeMounts.size(); ++i) {
    const VolumeMount& mount = container.volumeMounts[i];
    const FieldPath at = path.Index(i);
    CheckRequired(errors, mount.name, at.Child("name"));
    if (FindVolume(volumes, mount.name) == nullptr)
      errors.push_back(FieldError::NotFound(at.Child("name"), mount.name));
    CheckRequired(errors, mount.mountPath, at.Child("mountPath"));
    if (!mount_points.insert(mount.mountPath).second) {
      errors.push_back(
          FieldError::Invalid(at.Child("mountPath"), mount.mountPath, "must be unique"));
    }
    Append(errors, CheckMountAgainstDevices(mount, container.volumeDevices, at));
    Append(errors, CheckLocalDescendingPath(mount.subPath, path.Child("subPath")));
    if (!mount.subPathExpr.empty()) {
      if (!mount.subPath.empty()) {
        errors.push_back(FieldError::Invalid(at.Child("subPathExpr"), mount.subPathExpr,
                                             "subPathExpr and subPath are mutually exclusive"));
      }
      Append(errors, CheckLocalDescendingPath(mount.subPathExpr, path.Child("subPathExpr")));
    }
    Append(errors, CheckPropagation(mount, container, path.Child("mountPropagation")));
    Append(errors, CheckRecursiveReadOnly(mount, path.Child("recursiveReadOnly")));
  }
  return errors;
}

FieldErrorList CheckVolumeDevices(const Container& container, const List<Volume>& volumes,
                                  const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> names, device_paths;
  for (size_t i = 0; i < container.volumeDevices.size(); ++i) {
    const VolumeDevice& device = container.volumeDevices[i];
    const FieldPath at = path.Index(i);
    CheckRequired(errors, device.name, at.Child("name"));
    if (names.contains(device.name))
      errors.push_back(FieldError::Invalid(at.Child("name"), device.name, "must be unique"));
    const Volume* volume = FindVolume(volumes, device.name);
    if (volume == nullptr) {
      errors.push_back(FieldError::NotFound(at.Child("name"), device.name));
    } else if (!volume->volumeSource.persistentVolumeClaim && !volume->volumeSource.ephemeral) {
      errors.push_back(FieldError::Invalid(
          at.Child("name"), device.name,
          "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"));
    }
    CheckRequired(errors, device.devicePath, at.Child("devicePath"));
    if (device_paths.contains(device.devicePath)) {
      errors.push_back(
          FieldError::Invalid(at.Child("devicePath"), device.devicePath, "must be unique"));
    }
    if (!CheckNoBacksteps(device.devicePath, at).empty()) {
      errors.push_back(FieldError::Invalid(at.Child("devicePath"), device.devicePath,
                                           "can not contain backsteps ('..')"));
    } else {
      device_paths.insert(device.devicePath);
    }
    Append(errors, CheckDeviceAgainstMounts(device, container.volumeMounts, at));
    if (!device.name.empty()) names.insert(device.name);
  }
  return errors;
}

}  // namespace cox::apiserver::pod

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "base/strings.h"

// Volume sources for specific storage systems. Most of them are migrated to CSI drivers; their
// fields are still validated.
namespace cox::apiserver::pod {
namespace {

using core::v1::VolumeSource;

constexpr int32_t kMaxPartition = 255;
constexpr int32_t kMaxLun = 255;

// Reports missing members, in the given order.
FieldErrorList RequireAll(
    const FieldPath& path,
    std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  FieldErrorList errors;
  for (const auto& [name, value] : members) CheckRequired(errors, value, path.Child(name));
  return errors;
}

FieldErrorList CheckPartition(int32_t partition, const FieldPath& path) {
  if (partition >= 0 && partition <= kMaxPartition) return {};
  // Upstream's text says 1, but 0 is valid: it means the whole disk.
  return {FieldError::Invalid(path, partition, "must be between 1 and 255, inclusive")};
}

FieldErrorList CheckLun(int32_t lun, const FieldPath& path) {
  if (lun >= 0 && lun <= kMaxLun) return {};
  return {FieldError::Invalid(path, lun, "must be between 0 and 255, inclusive")};
}

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool AllAlnum(std::string_view text, size_t length) {
  return text.size() == length && std::all_of(text.begin(), text.end(), IsAlnum);
}

// iqn.YYYY-MM.domain:name
bool IsIqn(std::string_view name) {
  constexpr std::string_view kShape = "iqn.####-##.";
  if (name.size() <= kShape.size()) return false;
  for (size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '#' ? !IsDigit(name[i]) : name[i] != kShape[i]) return false;
  }
  CutResult rest = Cut(name.substr(kShape.size()), ':');
  auto in_domain = [](char c) { return IsAlnum(c) || c == '-' || c == '.'; };
  if (!rest.found || rest.before.empty() || rest.after.empty()) return false;
  return std::all_of(rest.before.begin(), rest.before.end(), in_domain) &&
         rest.after.find_first_of(",;*&$| \t\n\v\f\r") == std::string_view::npos;
}

// Names of initiators and targets in the three iSCSI formats.
FieldErrorList CheckIscsiName(std::string_view name, const FieldPath& path) {
  bool valid = false;
  if (name.starts_with("iqn")) {
    valid = IsIqn(name);
  } else if (name.starts_with("eui")) {
    valid = name.size() > 4 && AllAlnum(name.substr(4), 16);
  } else if (name.starts_with("naa")) {
    valid = name.size() > 4 && AllAlnum(name.substr(4), 32);
  } else {
    return {FieldError::Invalid(path, name, "must be valid format starting with iqn, eui, or naa")};
  }
  if (valid) return {};
  return {FieldError::Invalid(path, name, "must be valid format")};
}

FieldErrorList CheckIscsi(const core::v1::ISCSIVolumeSource& source, const FieldPath& path) {
  FieldErrorList errors;
  CheckRequired(errors, source.targetPortal, path.Child("targetPortal"));
  if (source.iqn.empty()) {
    errors.push_back(FieldError::Required(path.Child("iqn")));
  } else {
    Append(errors, CheckIscsiName(source.iqn, path.Child("iqn")));
  }
  Append(errors, CheckLun(source.lun, path.Child("lun")));
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef)
    errors.push_back(FieldError::Required(path.Child("secretRef")));
  if (source.initiatorName)
    Append(errors, CheckIscsiName(*source.initiatorName, path.Child("initiatorName")));
  return errors;
}

FieldErrorList CheckNfs(const core::v1::NFSVolumeSource& source, const FieldPath& path) {
  FieldErrorList errors = RequireAll(path, {{"server", source.server}, {"path", source.path}});
  if (!source.path.starts_with('/')) {
    errors.push_back(
        FieldError::Invalid(path.Child("path"), source.path, "must be an absolute path"));
  }
  return errors;
}

FieldErrorList CheckFc(const core::v1::FCVolumeSource& source, const FieldPath& path) {
  constexpr const char* kRule = "must specify either targetWWNs or wwids, but not both";
  FieldErrorList errors;
  const FieldPath names = path.Child("targetWWNs");
  if (source.targetWWNs.empty() && source.wwids.empty())
    errors.push_back(FieldError::Required(names, kRule));
  if (!source.targetWWNs.empty() && !source.wwids.empty())
    errors.push_back(FieldError::Invalid(names, source.targetWWNs, kRule));
  if (!source.targetWWNs.empty()) {
    if (!source.lun) {
      errors.push_back(
          FieldError::Required(path.Child("lun"), "lun is required if targetWWNs is specified"));
    } else {
      Append(errors, CheckLun(*source.lun, path.Child("lun")));
    }
  }
  return errors;
}

FieldErrorList CheckFlex(const core::v1::FlexVolumeSource& source, const FieldPath& path) {
  FieldErrorList errors = RequireAll(path, {{"driver", source.driver}});
  for (const auto& [key, value] : source.options) {
    CutResult parts = Cut(key, '/');
    std::string owner = parts.found ? "." + std::string(parts.before) : "";
    std::transform(owner.begin(), owner.end(), owner.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (owner.ends_with(".kubernetes.io") || owner.ends_with(".k8s.io")) {
      errors.push_back(FieldError::Invalid(path.Child("options").Key(key), key,
                                           "kubernetes.io and k8s.io namespaces are reserved"));
    }
  }
  return errors;
}

FieldErrorList CheckFlocker(const core::v1::FlockerVolumeSource& source, const FieldPath& path) {
  FieldErrorList errors;
  if (source.datasetName.empty() && source.datasetUUID.empty()) {
    errors.push_back(FieldError::Required(path, "one of datasetName and datasetUUID is required"));
  }
  if (!source.datasetName.empty() && !source.datasetUUID.empty()) {
    errors.push_back(FieldError::Invalid(
        path, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (source.datasetName.find('/') != std::string::npos) {
    errors.push_back(
        FieldError::Invalid(path.Child("datasetName"), source.datasetName, "must not contain '/'"));
  }
  return errors;
}

// A comma-separated list of host:port.
bool IsRegistryList(std::string_view text) {
  for (std::string_view pair : Split(text, ',')) {
    size_t colon = pair.rfind(':');
    if (colon == std::string_view::npos) return false;
    std::string_view host = pair.substr(0, colon);
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    if (!bracketed && host.find(':') != std::string_view::npos) return false;
  }
  return true;
}

FieldErrorList CheckQuobyte(const core::v1::QuobyteVolumeSource& source, const FieldPath& path) {
  constexpr const char* kRule = "must be a host:port pair or multiple pairs separated by commas";
  constexpr size_t kMaxTenant = 64;
  FieldErrorList errors;
  if (source.registry.empty()) {
    errors.push_back(FieldError::Required(path.Child("registry"), kRule));
  } else if (source.tenant.size() > kMaxTenant) {
    errors.push_back(FieldError::Required(
        path.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters"));
  } else if (!IsRegistryList(source.registry)) {
    errors.push_back(FieldError::Invalid(path.Child("registry"), source.registry, kRule));
  }
  CheckRequired(errors, source.volume, path.Child("volume"));
  return errors;
}

FieldErrorList CheckAzureDisk(const core::v1::AzureDiskVolumeSource& source,
                              const FieldPath& path) {
  FieldErrorList errors =
      RequireAll(path, {{"diskName", source.diskName}, {"diskURI", source.diskURI}});
  if (source.cachingMode) {
    std::string_view mode = *source.cachingMode;
    if (mode != "None" && mode != "ReadOnly" && mode != "ReadWrite") {
      errors.push_back(FieldError::NotSupported(path.Child("cachingMode"), mode,
                                                {"None", "ReadOnly", "ReadWrite"}));
    }
  }
  if (!source.kind) return errors;
  std::string_view kind = *source.kind;
  if (kind != "Dedicated" && kind != "Managed" && kind != "Shared") {
    errors.push_back(
        FieldError::NotSupported(path.Child("kind"), kind, {"Dedicated", "Managed", "Shared"}));
  }
  const bool managed = kind == "Managed";
  if (source.diskURI.starts_with(managed ? "/subscriptions/" : "https://")) return errors;
  errors.push_back(FieldError::NotSupported(
      path.Child("diskURI"), source.diskURI,
      {managed ? "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/"
                 "microsoft.compute/disks/{disk-id}"
               : "https://{account-name}.blob.core.windows.net/{container-name}/"
                 "{disk-name}.vhd"}));
  return errors;
}

FieldErrorList CheckStorageOs(const core::v1::StorageOSVolumeSource& source,
                              const FieldPath& path) {
  FieldErrorList errors;
  if (source.volumeName.empty()) {
    errors.push_back(FieldError::Required(path.Child("volumeName")));
  } else {
    Append(errors, CheckDnsLabel(source.volumeName, path.Child("volumeName")));
  }
  if (!source.volumeNamespace.empty())
    Append(errors, CheckDnsLabel(source.volumeNamespace, path.Child("volumeNamespace")));
  if (source.secretRef)
    CheckRequired(errors, source.secretRef->name, path.Child("secretRef").Child("name"));
  return errors;
}

FieldErrorList CheckCinder(const core::v1::CinderVolumeSource& source, const FieldPath& path) {
  FieldErrorList errors = RequireAll(path, {{"volumeID", source.volumeID}});
  if (source.secretRef)
    CheckRequired(errors, source.secretRef->name, path.Child("secretRef").Child("name"));
  return errors;
}

FieldErrorList CheckRbd(const core::v1::RBDVolumeSource& source, const FieldPath& path) {
  FieldErrorList errors;
  if (source.monitors.empty()) errors.push_back(FieldError::Required(path.Child("monitors")));
  CheckRequired(errors, source.image, path.Child("image"));
  return errors;
}

template <class Disk>
FieldErrorList CheckDisk(const Disk& source, std::string_view id_name, std::string_view id,
                         const FieldPath& path) {
  FieldErrorList errors = RequireAll(path, {{id_name, id}});
  Append(errors, CheckPartition(source.partition, path.Child("partition")));
  return errors;
}

}  // namespace

std::vector<VolumeSourceCheck> CheckNetworkSources(const VolumeSource& s, const FieldPath& path) {
  std::vector<VolumeSourceCheck> checks;
  auto add = [&](std::string_view name, const auto& box, auto check) {
    if (box) checks.push_back({name, true, check(*box, path.Child(name))});
  };
  // Upstream's name in errors.
  add("persistentDisk", s.gcePersistentDisk, [](const auto& disk, const FieldPath& at) {
    return CheckDisk(disk, "pdName", disk.pdName, at);
  });
  add("awsElasticBlockStore", s.awsElasticBlockStore, [](const auto& disk, const FieldPath& at) {
    return CheckDisk(disk, "volumeID", disk.volumeID, at);
  });
  add("nfs", s.nfs, CheckNfs);
  add("iscsi", s.iscsi, CheckIscsi);
  add("glusterfs", s.glusterfs, [](const auto& g, const FieldPath& at) {
    return RequireAll(at, {{"endpoints", g.endpoints}, {"path", g.path}});
  });
  add("flocker", s.flocker, CheckFlocker);
  add("rbd", s.rbd, CheckRbd);
  add("cinder", s.cinder, CheckCinder);
  add("cephfs", s.cephfs, [](const auto& ceph, const FieldPath& at) -> FieldErrorList {
    if (!ceph.monitors.empty()) return {};
    return {FieldError::Required(at.Child("monitors"))};
  });
  add("quobyte", s.quobyte, CheckQuobyte);
  add("fc", s.fc, CheckFc);
  add("flexVolume", s.flexVolume, CheckFlex);
  add("azureFile", s.azureFile, [](const auto& file, const FieldPath& at) {
    return RequireAll(at, {{"secretName", file.secretName}, {"shareName", file.shareName}});
  });
  add("vsphereVolume", s.vsphereVolume, [](const auto& disk, const FieldPath& at) {
    return RequireAll(at, {{"volumePath", disk.volumePath}});
  });
  add("photonPersistentDisk", s.photonPersistentDisk, [](const auto& disk, const FieldPath& at) {
    return RequireAll(at, {{"pdID", disk.pdID}});
  });
  add("portworxVolume", s.portworxVolume, [](const auto& disk, const FieldPath& at) {
    return RequireAll(at, {{"volumeID", disk.volumeID}});
  });
  add("azureDisk", s.azureDisk, CheckAzureDisk);
  add("storageos", s.storageos, CheckStorageOs);
  add("scaleIO", s.scaleIO, [](const auto& io, const FieldPath& at) {
    return RequireAll(
        at, {{"gateway", io.gateway}, {"system", io.system}, {"volumeName", io.volumeName}});
  });
  return checks;
}

}  // namespace cox::apiserver::pod

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/volume/volume_source_validation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/registry/validation/field_messages.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

namespace cv = core::v1;

constexpr size_t kMaxDriverName = 63;
constexpr size_t kMaxTenant = 64;
constexpr std::string_view kByteRange = "must be between 0 and 255, inclusive";

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Collects the errors of one source.
class Checker {
 public:
  explicit Checker(FieldPath path) : path_(std::move(path)) {}

  Checker& Required(const std::string& value, std::string_view field) {
    if (value.empty()) Add(FieldError::Required(path_.Child(field)));
    return *this;
  }
  Checker& Required(const List<std::string>& value, std::string_view field) {
    if (value.empty()) Add(FieldError::Required(path_.Child(field)));
    return *this;
  }
  Checker& ByteRange(int32_t value, std::string_view field) {
    if (value < 0 || value > 255) {
      Add(FieldError::Invalid(path_.Child(field), value, std::string(kByteRange)));
    }
    return *this;
  }
  Checker& NoBacksteps(const std::string& value, std::string_view field) {
    for (std::string_view part : Split(value, '/')) {
      if (part == "..") {
        Add(FieldError::Invalid(path_.Child(field), value, "must not contain '..'"));
        break;
      }
    }
    return *this;
  }
  // A secret reference with name and namespace.
  template <class Reference>
  Checker& Secret(const Reference* reference, std::string_view field) {
    if (reference == nullptr) return *this;
    const FieldPath at = path_.Child(field);
    if (reference->name.empty()) Add(FieldError::Required(at.Child("name")));
    if (reference->namespace_.empty()) Add(FieldError::Required(at.Child("namespace")));
    return *this;
  }
  Checker& StrictSecret(const cv::SecretReference* reference, std::string_view field) {
    if (reference == nullptr) return *this;
    const FieldPath at = path_.Child(field);
    if (reference->name.empty()) {
      Add(FieldError::Required(at.Child("name")));
    } else {
      Messages(at.Child("name"), reference->name, validation::IsDNS1123Subdomain(reference->name));
    }
    if (reference->namespace_.empty()) {
      Add(FieldError::Required(at.Child("namespace")));
    } else {
      Messages(at.Child("namespace"), reference->namespace_,
               validation::IsDNS1123Label(reference->namespace_));
    }
    return *this;
  }
  void Messages(const FieldPath& at, std::string_view value, const validation::Messages& messages) {
    AppendInvalid(errors_, at, value, messages);
  }
  void Add(FieldError error) { errors_.push_back(std::move(error)); }
  void Add(FieldErrorList errors) { Append(errors_, std::move(errors)); }
  FieldPath Child(std::string_view field) const { return path_.Child(field); }
  const FieldPath& path() const { return path_; }
  FieldErrorList Done() { return std::move(errors_); }

 private:
  FieldPath path_;
  FieldErrorList errors_;
};

bool IsAlnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsAlnum(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return IsAlnum(c); });
}

// iqn.2001-04.com.example:storage: a year and month, a reversed domain, a colon and a name.
bool IsIqn(std::string_view text) {
  auto digits = [&](size_t count) {
    if (text.size() < count) return false;
    const std::string_view part = text.substr(0, count);
    text.remove_prefix(count);
    return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  auto literal = [&](char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  };
  text.remove_prefix(3);  // "iqn"
  if (!literal('.') || !digits(4) || !literal('-') || !digits(2) || !literal('.')) return false;
  const size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const std::string_view domain = text.substr(0, colon), name = text.substr(colon + 1);
  return std::all_of(domain.begin(), domain.end(),
                     [](char c) { return IsAlnum(c) || c == '-' || c == '.'; }) &&
         name.find_first_of(",;*&$| \t\n\f\r") == std::string_view::npos;
}

// Returns the error for the name of an iSCSI target or initiator, or "".
std::string_view IscsiNameFault(std::string_view name) {
  if (name.starts_with("iqn")) return IsIqn(name) ? "" : "must be valid format";
  const bool eui = name.starts_with("eui");
  if (!eui && !name.starts_with("naa")) {
    return "must be valid format starting with iqn, eui, or naa";
  }
  const size_t length = 4 + (eui ? 16 : 32);  // any character after the prefix
  return name.size() == length && IsAlnum(name.substr(4)) ? "" : "must be valid format";
}

FieldErrorList Check(const cv::HostPathVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  if (source.path.empty()) return check.Required(source.path, "path").Done();
  check.NoBacksteps(source.path, "path");
  static constexpr std::string_view kTypes[] = {
      "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
      "File", "FileOrCreate", "Socket"};
  if (source.type &&
      std::find(std::begin(kTypes), std::end(kTypes), *source.type) == std::end(kTypes)) {
    check.Add(FieldError::NotSupported(path.Child("type"), *source.type, kTypes));
  }
  return check.Done();
}

FieldErrorList Check(const cv::GCEPersistentDiskVolumeSource& source, const FieldPath& path) {
  return Checker(path)
      .Required(source.pdName, "pdName")
      .ByteRange(source.partition, "partition")
      .Done();
}

FieldErrorList Check(const cv::AWSElasticBlockStoreVolumeSource& source, const FieldPath& path) {
  return Checker(path)
      .Required(source.volumeID, "volumeID")
      .ByteRange(source.partition, "partition")
      .Done();
}

FieldErrorList Check(const cv::GlusterfsPersistentVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  check.Required(source.endpoints, "endpoints").Required(source.path, "path");
  if (source.endpointsNamespace) {
    const FieldPath at = path.Child("endpointsNamespace");
    if (source.endpointsNamespace->empty()) {
      check.Add(FieldError::Invalid(
          at, *source.endpointsNamespace,
          "if the endpointnamespace is set, it must be a valid namespace name"));
    } else {
      check.Messages(at, *source.endpointsNamespace,
                     validation::NameIsDNSLabel(*source.endpointsNamespace, false));
    }
  }
  return check.Done();
}

FieldErrorList Check(const cv::FlockerVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  if (source.datasetName.empty() && source.datasetUUID.empty()) {
    check.Add(FieldError::Required(path, "one of datasetName and datasetUUID is required"));
  }
  if (!source.datasetName.empty() && !source.datasetUUID.empty()) {
    check.Add(FieldError::Invalid(
        path, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (source.datasetName.find('/') != std::string::npos) {
    check.Add(
        FieldError::Invalid(path.Child("datasetName"), source.datasetName, "must not contain '/'"));
  }
  return check.Done();
}

FieldErrorList Check(const cv::NFSVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  check.Required(source.server, "server").Required(source.path, "path");
  if (!source.path.starts_with('/')) {
    check.Add(FieldError::Invalid(path.Child("path"), source.path, "must be an absolute path"));
  }
  return check.Done();
}

FieldErrorList Check(const cv::RBDPersistentVolumeSource& source, const FieldPath& path) {
  return Checker(path).Required(source.monitors, "monitors").Required(source.image, "image").Done();
}

FieldErrorList Check(const cv::QuobyteVolumeSource& source, const FieldPath& path) {
  constexpr std::string_view kPairs =
      "must be a host:port pair or multiple pairs separated by commas";
  Checker check(path);
  if (source.registry.empty()) {
    check.Add(FieldError::Required(path.Child("registry"), std::string(kPairs)));
  } else if (source.tenant.size() > kMaxTenant) {
    check.Add(FieldError::Required(path.Child("tenant"),
                                   "must be a UUID and may not exceed a length of 64 characters"));
  } else {
    for (std::string_view pair : Split(source.registry, ',')) {
      const size_t colon = pair.rfind(':');
      const bool bracketed = pair.starts_with('[') && colon > 0 && pair[colon - 1] == ']';
      const bool plain = colon != std::string_view::npos && pair.find(':') == colon;
      if (colon == std::string_view::npos || (!bracketed && !plain)) {
        check.Add(
            FieldError::Invalid(path.Child("registry"), source.registry, std::string(kPairs)));
      }
    }
  }
  return check.Required(source.volume, "volume").Done();
}

FieldErrorList Check(const cv::CephFSPersistentVolumeSource& source, const FieldPath& path) {
  return Checker(path).Required(source.monitors, "monitors").Done();
}

FieldErrorList Check(const cv::ISCSIPersistentVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  check.Required(source.targetPortal, "targetPortal").Required(source.iqn, "iqn");
  if (!source.iqn.empty()) {
    if (std::string_view fault = IscsiNameFault(source.iqn); !fault.empty()) {
      check.Add(FieldError::Invalid(path.Child("iqn"), source.iqn, std::string(fault)));
    }
  }
  check.ByteRange(source.lun, "lun");
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef) {
    check.Add(FieldError::Required(path.Child("secretRef")));
  }
  if (source.secretRef && source.secretRef->name.empty()) {
    check.Add(FieldError::Required(path.Child("secretRef").Child("name")));
  }
  if (source.initiatorName) {
    if (std::string_view fault = IscsiNameFault(*source.initiatorName); !fault.empty()) {
      check.Add(FieldError::Invalid(path.Child("initiatorname"), *source.initiatorName,
                                    std::string(fault)));
    }
  }
  return check.Done();
}

FieldErrorList Check(const cv::CinderPersistentVolumeSource& source, const FieldPath& path) {
  return Checker(path)
      .Required(source.volumeID, "volumeID")
      .Secret(source.secretRef.get(), "secretRef")
      .Done();
}

FieldErrorList Check(const cv::FCVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  const FieldPath wwns = path.Child("targetWWNs");
  if (source.targetWWNs.empty() && source.wwids.empty()) {
    check.Add(FieldError::Required(wwns, "must specify either targetWWNs or wwids, but not both"));
  }
  if (!source.targetWWNs.empty() && !source.wwids.empty()) {
    check.Add(FieldError::Invalid(wwns, source.targetWWNs,
                                  "targetWWNs and wwids can not be specified simultaneously"));
  }
  if (!source.targetWWNs.empty()) {
    if (!source.lun) {
      check.Add(
          FieldError::Required(path.Child("lun"), "lun is required if targetWWNs is specified"));
    } else {
      check.ByteRange(*source.lun, "lun");
    }
  }
  return check.Done();
}

FieldErrorList Check(const cv::FlexPersistentVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  check.Required(source.driver, "driver");
  for (const auto& [key, value] : source.options) {
    const std::string domain = "." + ToLower(Cut(key, '/').before);
    if (domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io")) {
      check.Add(FieldError::Invalid(path.Child("options").Key(key), key,
                                    "kubernetes.io and k8s.io namespaces are reserved"));
    }
  }
  return check.Done();
}

FieldErrorList Check(const cv::AzureFilePersistentVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  check.Required(source.secretName, "secretName").Required(source.shareName, "shareName");
  if (source.secretNamespace) check.Required(*source.secretNamespace, "secretNamespace");
  return check.Done();
}

FieldErrorList Check(const cv::VsphereVirtualDiskVolumeSource& source, const FieldPath& path) {
  return Checker(path).Required(source.volumePath, "volumePath").Done();
}

FieldErrorList Check(const cv::AzureDiskVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  check.Required(source.diskName, "diskName").Required(source.diskURI, "diskURI");
  if (source.cachingMode) {
    const std::string& mode = *source.cachingMode;
    if (mode != "None" && mode != "ReadOnly" && mode != "ReadWrite") {
      check.Add(FieldError::NotSupported(path.Child("cachingMode"), mode,
                                         {"None", "ReadOnly", "ReadWrite"}));
    }
  }
  if (!source.kind) return check.Done();
  const std::string& kind = *source.kind;
  const bool managed = kind == "Managed";
  if (!managed && kind != "Dedicated" && kind != "Shared") {
    check.Add(
        FieldError::NotSupported(path.Child("kind"), kind, {"Dedicated", "Managed", "Shared"}));
  }
  const FieldPath uri = path.Child("diskURI");
  if (managed && !source.diskURI.starts_with("/subscriptions/")) {
    check.Add(FieldError::NotSupported(
        uri, source.diskURI,
        {"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
         "{disk-id}"}));
  }
  if (!managed && !source.diskURI.starts_with("https://")) {
    check.Add(FieldError::NotSupported(
        uri, source.diskURI,
        {"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"}));
  }
  return check.Done();
}

FieldErrorList Check(const cv::PhotonPersistentDiskVolumeSource& source, const FieldPath& path) {
  return Checker(path).Required(source.pdID, "pdID").Done();
}

FieldErrorList Check(const cv::PortworxVolumeSource& source, const FieldPath& path) {
  return Checker(path).Required(source.volumeID, "volumeID").Done();
}

FieldErrorList Check(const cv::ScaleIOPersistentVolumeSource& source, const FieldPath& path) {
  return Checker(path)
      .Required(source.gateway, "gateway")
      .Required(source.system, "system")
      .Required(source.volumeName, "volumeName")
      .Done();
}

FieldErrorList Check(const cv::LocalVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  if (source.path.empty()) return check.Required(source.path, "path").Done();
  return check.NoBacksteps(source.path, "path").Done();
}

FieldErrorList Check(const cv::StorageOSPersistentVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  if (source.volumeName.empty()) {
    check.Required(source.volumeName, "volumeName");
  } else {
    check.Messages(path.Child("volumeName"), source.volumeName,
                   validation::IsDNS1123Label(source.volumeName));
  }
  if (!source.volumeNamespace.empty()) {
    check.Messages(path.Child("volumeNamespace"), source.volumeNamespace,
                   validation::IsDNS1123Label(source.volumeNamespace));
  }
  return check.Secret(source.secretRef.get(), "secretRef").Done();
}

FieldErrorList Check(const cv::CSIPersistentVolumeSource& source, const FieldPath& path) {
  Checker check(path);
  check.Add(ValidateCsiDriverName(source.driver, path.Child("driver")));
  return check.Required(source.volumeHandle, "volumeHandle")
      .StrictSecret(source.controllerPublishSecretRef.get(), "controllerPublishSecretRef")
      .StrictSecret(source.controllerExpandSecretRef.get(), "controllerExpandSecretRef")
      .StrictSecret(source.nodePublishSecretRef.get(), "nodePublishSecretRef")
      .StrictSecret(source.nodeExpandSecretRef.get(), "nodeExpandSecretRef")
      .Done();
}

// Validates the first source that is set and rejects further ones.
class OneOf {
 public:
  explicit OneOf(const FieldPath& path) : path_(path) {}

  template <class Source>
  void Take(const Box<Source>& source, std::string_view field) {
    if (!source) return;
    if (found_) {
      errors_.push_back(
          FieldError::Forbidden(path_.Child(field), "may not specify more than 1 volume type"));
      return;
    }
    found_ = true;
    Append(errors_, Check(*source, path_.Child(field)));
  }

  FieldErrorList Done() {
    if (!found_) errors_.push_back(FieldError::Required(path_, "must specify a volume type"));
    return std::move(errors_);
  }

 private:
  const FieldPath& path_;
  bool found_ = false;
  FieldErrorList errors_;
};

}  // namespace

FieldErrorList ValidateCsiDriverName(std::string_view name, const FieldPath& path) {
  if (name.empty()) return {FieldError::Required(path)};
  FieldErrorList errors;
  if (name.size() > kMaxDriverName) errors.push_back(FieldError::TooLong(path, kMaxDriverName));
  AppendInvalid(errors, path, name, validation::IsDNS1123Subdomain(ToLower(name)));
  return errors;
}

FieldErrorList ValidateVolumeSource(const cv::PersistentVolumeSource& source,
                                    const FieldPath& path) {
  OneOf one(path);
  one.Take(source.hostPath, "hostPath");
  one.Take(source.gcePersistentDisk, "gcePersistentDisk");
  one.Take(source.awsElasticBlockStore, "awsElasticBlockStore");
  one.Take(source.glusterfs, "glusterfs");
  one.Take(source.flocker, "flocker");
  one.Take(source.nfs, "nfs");
  one.Take(source.rbd, "rbd");
  one.Take(source.quobyte, "quobyte");
  one.Take(source.cephfs, "cephFS");  // upstream's name in errors
  one.Take(source.iscsi, "iscsi");
  one.Take(source.cinder, "cinder");
  one.Take(source.fc, "fc");
  one.Take(source.flexVolume, "flexVolume");
  one.Take(source.azureFile, "azureFile");
  one.Take(source.vsphereVolume, "vsphereVolume");
  one.Take(source.azureDisk, "azureDisk");
  one.Take(source.photonPersistentDisk, "photonPersistentDisk");
  one.Take(source.portworxVolume, "portworxVolume");
  one.Take(source.scaleIO, "scaleIO");
  one.Take(source.local, "local");
  one.Take(source.storageos, "storageos");
  one.Take(source.csi, "csi");
  return one.Done();
}

}  // namespace cox::apiserver

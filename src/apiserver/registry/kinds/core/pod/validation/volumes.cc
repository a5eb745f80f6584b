// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "apiserver/registry/validation/field_checks.h"

namespace cox::apiserver::pod {
namespace {

using core::v1::VolumeSource;

FieldErrorList CheckHostPath(const core::v1::HostPathVolumeSource& source, const FieldPath& path) {
  if (source.path.empty()) return {FieldError::Required(path.Child("path"))};
  FieldErrorList errors = CheckNoBacksteps(source.path, path.Child("path"));
  static constexpr std::string_view kTypes[] = {
      "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
      "File", "FileOrCreate", "Socket"};
  if (!source.type) return errors;
  for (std::string_view type : kTypes)
    if (*source.type == type) return errors;
  errors.push_back(FieldError::NotSupported(path.Child("type"), *source.type, kTypes));
  return errors;
}

FieldErrorList CheckItems(const List<core::v1::KeyToPath>& items, const FieldPath& path) {
  FieldErrorList errors;
  for (size_t i = 0; i < items.size(); ++i) Append(errors, CheckKeyToPath(items[i], path.Index(i)));
  return errors;
}

FieldErrorList CheckSecret(const core::v1::SecretVolumeSource& source, const FieldPath& path) {
  FieldErrorList errors;
  CheckRequired(errors, source.secretName, path.Child("secretName"));
  Append(errors, CheckFileMode(source.defaultMode, path.Child("defaultMode")));
  Append(errors, CheckItems(source.items, path.Child("items")));
  return errors;
}

FieldErrorList CheckConfigMap(const core::v1::ConfigMapVolumeSource& source,
                              const FieldPath& path) {
  FieldErrorList errors;
  CheckRequired(errors, source.localObjectReference.name, path.Child("name"));
  Append(errors, CheckFileMode(source.defaultMode, path.Child("defaultMode")));
  Append(errors, CheckItems(source.items, path.Child("items")));
  return errors;
}

FieldErrorList CheckDownwardApi(const core::v1::DownwardAPIVolumeSource& source,
                                const FieldPath& path) {
  FieldErrorList errors = CheckFileMode(source.defaultMode, path.Child("defaultMode"));
  // The error is at the volume, without the index of the item.
  for (const core::v1::DownwardAPIVolumeFile& file : source.items)
    Append(errors, CheckDownwardFile(file, path));
  return errors;
}

FieldErrorList CheckEmptyDir(const core::v1::EmptyDirVolumeSource& source, const FieldPath& path) {
  if (!source.sizeLimit || source.sizeLimit->Sign() >= 0) return {};
  return {FieldError::Forbidden(path.Child("sizeLimit"),
                                "SizeLimit field must be a valid resource quantity")};
}

FieldErrorList CheckGitRepo(const core::v1::GitRepoVolumeSource& source, const FieldPath& path) {
  FieldErrorList errors;
  CheckRequired(errors, source.repository, path.Child("repository"));
  Append(errors, CheckLocalDescendingPath(source.directory, path.Child("directory")));
  return errors;
}

FieldErrorList CheckCsi(const core::v1::CSIVolumeSource& source, const FieldPath& path) {
  FieldErrorList errors = CheckCsiDriverName(source.driver, path.Child("driver"));
  if (source.nodePublishSecretRef) {
    CheckRequired(errors, source.nodePublishSecretRef->name,
                  path.Child("nodePublishSecretRef").Child("name"));
  }
  return errors;
}

FieldErrorList CheckEphemeral(const core::v1::EphemeralVolumeSource& source,
                              const FieldPath& path) {
  const FieldPath at = path.Child("volumeClaimTemplate");
  if (!source.volumeClaimTemplate) return {FieldError::Required(at)};
  const core::v1::PersistentVolumeClaimTemplate& claim = *source.volumeClaimTemplate;
  std::vector<validation::StringPair> annotations;
  for (const auto& [key, value] : claim.metadata.annotations) annotations.emplace_back(key, value);
  FieldErrorList errors = validation::ValidateAnnotations(annotations, at.Child("annotations"));
  Append(errors, ValidateLabels(claim.metadata.labels, at.Child("labels")));
  Append(errors, CheckClaimSpec(claim.spec, at.Child("spec")));
  return errors;
}

// The claim of an ephemeral volume is named after pod and volume; this name must be valid, too.
FieldErrorList CheckEphemeralClaimName(const Volume& volume, const meta::v1::ObjectMeta* meta,
                                       const FieldPath& path) {
  if (!volume.volumeSource.ephemeral || meta == nullptr || meta->name.empty()) return {};
  std::string claim = meta->name + "-" + volume.name;
  FieldErrorList errors;
  for (const std::string& message : validation::IsDNS1123Subdomain(claim)) {
    errors.push_back(FieldError::Invalid(path.Child("name"), volume.name,
                                         "PVC name \"" + claim + "\": " + message));
  }
  return errors;
}

FieldErrorList CheckImage(const core::v1::ImageVolumeSource& source, const FieldPath& path,
                          const PodValidationOptions& options) {
  FieldErrorList errors;
  // As for containers, tools that process templates may set the image later.
  if (options.resource_is_pod) CheckRequired(errors, source.reference, path.Child("reference"));
  Append(errors, CheckPullPolicy(source.pullPolicy, path.Child("pullPolicy")));
  return errors;
}

// All sources in the order of validation; the second one that is set is rejected.
std::vector<VolumeSourceCheck> CheckAllSources(const VolumeSource& source, const FieldPath& path,
                                               const PodValidationOptions& options) {
  std::vector<VolumeSourceCheck> checks;
  auto add = [&](std::string_view name, const auto& box, auto check) {
    if (box) checks.push_back({name, true, check(*box, path.Child(name))});
  };
  add("emptyDir", source.emptyDir, CheckEmptyDir);
  add("hostPath", source.hostPath, CheckHostPath);
  add("gitRepo", source.gitRepo, CheckGitRepo);
  add("secret", source.secret, CheckSecret);
  add("configMap", source.configMap, CheckConfigMap);
  add("downwardAPI", source.downwardAPI, CheckDownwardApi);
  add("persistentVolumeClaim", source.persistentVolumeClaim,
      [](const auto& claim, const FieldPath& at) {
        FieldErrorList errors;
        CheckRequired(errors, claim.claimName, at.Child("claimName"));
        return errors;
      });
  for (VolumeSourceCheck& check : CheckNetworkSources(source, path))
    if (check.set) checks.push_back(std::move(check));
  add("projected", source.projected, [&](const auto& projected, const FieldPath& at) {
    return CheckProjected(projected, at, options);
  });
  add("csi", source.csi, CheckCsi);
  add("ephemeral", source.ephemeral, CheckEphemeral);
  add("image", source.image,
      [&](const auto& image, const FieldPath& at) { return CheckImage(image, at, options); });
  return checks;
}

FieldErrorList CheckSource(const VolumeSource& source, const FieldPath& path,
                           const PodValidationOptions& options) {
  std::vector<VolumeSourceCheck> checks = CheckAllSources(source, path, options);
  if (checks.empty()) return {FieldError::Required(path, "must specify a volume type")};
  FieldErrorList errors = std::move(checks.front().errors);
  for (size_t i = 1; i < checks.size(); ++i) {
    errors.push_back(FieldError::Forbidden(path.Child(checks[i].name),
                                           "may not specify more than 1 volume type"));
  }
  return errors;
}

// A volume cannot refer to a claim that an ephemeral volume of the pod creates.
FieldErrorList CheckClaimConflicts(const PodSpec& spec, const meta::v1::ObjectMeta* meta,
                                   const FieldPath& path) {
  FieldErrorList errors;
  if (meta == nullptr || meta->name.empty()) return errors;
  std::set<std::string> made;
  for (const Volume& volume : spec.volumes)
    if (volume.volumeSource.ephemeral) made.insert(meta->name + "-" + volume.name);
  for (size_t i = 0; i < spec.volumes.size(); ++i) {
    const auto& claim = spec.volumes[i].volumeSource.persistentVolumeClaim;
    if (!claim || !made.contains(claim->claimName)) continue;
    errors.push_back(FieldError::Invalid(
        path.Index(i).Child("persistentVolumeClaim").Child("claimName"), claim->claimName,
        "must not reference a PVC that gets created for an ephemeral volume"));
  }
  return errors;
}

}  // namespace

FieldErrorList CheckKeyToPath(const core::v1::KeyToPath& item, const FieldPath& path) {
  FieldErrorList errors;
  CheckRequired(errors, item.key, path.Child("key"));
  CheckRequired(errors, item.path, path.Child("path"));
  Append(errors, CheckLocalNonReservedPath(item.path, path.Child("path")));
  Append(errors, CheckFileMode(item.mode, path.Child("mode")));
  return errors;
}

FieldErrorList CheckDownwardFile(const core::v1::DownwardAPIVolumeFile& file,
                                 const FieldPath& path) {
  static constexpr std::string_view kFields[] = {"metadata.annotations", "metadata.labels",
                                                 "metadata.name", "metadata.namespace",
                                                 "metadata.uid"};
  FieldErrorList errors;
  CheckRequired(errors, file.path, path.Child("path"));
  Append(errors, CheckLocalNonReservedPath(file.path, path.Child("path")));
  if (file.fieldRef) {
    Append(errors, CheckObjectFieldSelector(*file.fieldRef, kFields, path.Child("fieldRef")));
    if (file.resourceFieldRef) {
      errors.push_back(FieldError::Invalid(
          path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
    }
  } else if (file.resourceFieldRef) {
    Append(errors, CheckResourceFieldSelector(*file.resourceFieldRef, /*in_volume=*/true,
                                              path.Child("resourceFieldRef")));
  } else {
    errors.push_back(
        FieldError::Required(path, "one of fieldRef and resourceFieldRef is required"));
  }
  Append(errors, CheckFileMode(file.mode, path.Child("mode")));
  return errors;
}

FieldErrorList CheckVolumes(const PodSpec& spec, const meta::v1::ObjectMeta* meta,
                            const FieldPath& path, const PodValidationOptions& options,
                            List<Volume>* valid) {
  FieldErrorList errors;
  std::set<std::string_view> names;
  for (size_t i = 0; i < spec.volumes.size(); ++i) {
    const Volume& volume = spec.volumes[i];
    const FieldPath at = path.Index(i);
    FieldErrorList found = CheckSource(volume.volumeSource, at, options);
    Append(found, CheckEphemeralClaimName(volume, meta, at));
    if (volume.name.empty()) {
      found.push_back(FieldError::Required(at.Child("name")));
    } else {
      Append(found, CheckDnsLabel(volume.name, at.Child("name")));
    }
    if (names.contains(volume.name))
      found.push_back(FieldError::Duplicate(at.Child("name"), volume.name));
    if (found.empty()) {
      names.insert(volume.name);
      valid->push_back(volume);
    }
    Append(errors, std::move(found));
  }
  Append(errors, CheckClaimConflicts(spec, meta, path));
  return errors;
}

}  // namespace cox::apiserver::pod

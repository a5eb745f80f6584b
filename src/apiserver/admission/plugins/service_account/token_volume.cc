// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/service_account/token_volume.h"

#include <algorithm>

namespace cox::apiserver::service_account {
namespace {

using core::v1::Container;
using core::v1::PodSpec;
using core::v1::Volume;

constexpr std::string_view kVolumePrefix = "kube-api-access-";
// The API server recognizes this value and extends the expiration, for applications that do not
// reload the token.
constexpr int64_t kTokenSeconds = 3607;
constexpr int32_t kFileMode = 0644;

core::v1::ProjectedVolumeSource TokenSource() {
  core::v1::ProjectedVolumeSource source;
  source.defaultMode = kFileMode;

  core::v1::ServiceAccountTokenProjection& token =
      source.sources.emplace_back().serviceAccountToken.ensure();
  token.expirationSeconds = kTokenSeconds;
  token.path = "token";

  core::v1::ConfigMapProjection& ca = source.sources.emplace_back().configMap.ensure();
  ca.localObjectReference.name = "kube-root-ca.crt";
  ca.items.push_back({.key = "ca.crt", .path = "ca.crt", .mode = {}});

  core::v1::DownwardAPIVolumeFile& ns =
      source.sources.emplace_back().downwardAPI.ensure().items.emplace_back();
  ns.path = "namespace";
  ns.fieldRef =
      core::v1::ObjectFieldSelector{.apiVersion = "v1", .fieldPath = "metadata.namespace"};
  return source;
}

bool HasMount(const Container& container) {
  return std::any_of(
      container.volumeMounts.begin(), container.volumeMounts.end(),
      [](const core::v1::VolumeMount& mount) { return mount.mountPath == kTokenMountPath; });
}

const Volume* FindVolume(const PodSpec& spec, const std::function<bool(const std::string&)>& is) {
  auto found = std::find_if(spec.volumes.begin(), spec.volumes.end(),
                            [&](const Volume& volume) { return is(volume.name); });
  return found == spec.volumes.end() ? nullptr : &*found;
}

}  // namespace

bool WantsToken(const core::v1::ServiceAccount& account, const PodSpec& spec) {
  if (spec.automountServiceAccountToken) return *spec.automountServiceAccountToken;
  return account.automountServiceAccountToken.value_or(true);
}

void MountToken(PodSpec& spec,
                const std::function<std::string(std::string_view prefix)>& generate_name) {
  const Volume* there =
      FindVolume(spec, [](const std::string& name) { return name.starts_with(kVolumePrefix); });
  // No existing volume has the prefix, so the generated name is unique.
  const std::string name = there != nullptr ? there->name : generate_name(kVolumePrefix);
  bool mounted = false;
  for (List<Container>* list : {&spec.initContainers, &spec.containers}) {
    for (Container& container : *list) {
      if (HasMount(container)) continue;
      core::v1::VolumeMount& mount = container.volumeMounts.emplace_back();
      mount.name = name;
      mount.readOnly = true;
      mount.mountPath = kTokenMountPath;
      mounted = true;
    }
  }
  if (there != nullptr || !mounted) return;
  Volume& volume = spec.volumes.emplace_back();
  volume.name = name;
  volume.volumeSource.projected = TokenSource();
}

}  // namespace cox::apiserver::service_account

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/admissionregistration/v1.h"
#include "api/core/v1.h"
#include "coxswain/client.h"

// Presets and their merging into Pods. Pure functions.
namespace preset {

// "true" on ConfigMaps that are presets.
inline constexpr char kPresetLabel[] = "podpreset.example.com/preset";
// On Pods: "true" excludes the Pod from all presets.
inline constexpr char kExcludeAnnotation[] = "podpreset.example.com/exclude";
// On Pods: podpreset.example.com/<preset>: <its resourceVersion>, for each merged preset.
inline constexpr char kAnnotationPrefix[] = "podpreset.example.com/";

// The additions for Pods with certain labels. The ConfigMap contains, as YAML or JSON:
//   selector       a label selector; REQUIRED, {} for all Pods of the namespace
//   env, envFrom, volumeMounts   for each container
//   volumes        for the Pod
struct Preset {
  std::string name;
  std::string resource_version;
  cox::labels::Selector selector;
  cox::List<cox::core::v1::EnvVar> env;
  cox::List<cox::core::v1::EnvFromSource> env_from;
  cox::List<cox::core::v1::Volume> volumes;
  cox::List<cox::core::v1::VolumeMount> volume_mounts;
};

// BadRequest with the invalid entry and the reason.
cox::Result<Preset> ParsePreset(const cox::core::v1::ConfigMap& map);

// False for Pods that are excluded by annotation, and for mirror Pods of static Pods, which already
// run on their node.
bool Wants(const cox::core::v1::Pod& pod);

// A conflict: the preset, and the item that differs from the Pod or from an earlier preset.
struct Clash {
  std::string preset;
  std::string what;
};

// Merges all presets in the order of their names, or none: on a conflict the Pod is unchanged.
// Items that the Pod already has with the same content are no conflict. Idempotent.
//
// Conflicts: an environment variable or a volume with the same name, or a mount with the same path,
// but different content.
std::optional<Clash> Merge(std::vector<Preset> presets, cox::core::v1::Pod& pod);

// The webhook configuration: only for the creation of Pods, so that the owners of Pods (Deployments
// and others) are not changed.
cox::admissionregistration::v1::MutatingWebhookConfiguration Configuration(
    const std::string& name, cox::admissionregistration::v1::WebhookClientConfig client,
    const std::string& own_namespace);

}  // namespace preset

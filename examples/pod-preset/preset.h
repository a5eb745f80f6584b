// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/admissionregistration/v1.h"
#include "api/core/v1.h"
#include "coxswain/client.h"

// What presets are and how they become part of Pods. Pure functions.
namespace preset {

// On ConfigMaps that are presets: "true".
inline constexpr char kPresetLabel[] = "podpreset.example.com/preset";
// On Pods: "true" keeps all presets out.
inline constexpr char kExcludeAnnotation[] = "podpreset.example.com/exclude";
// On Pods: podpreset.example.com/<preset>: <its resourceVersion>, for each that was merged.
inline constexpr char kAnnotationPrefix[] = "podpreset.example.com/";

// What Pods with certain labels get. Its ConfigMap has, as YAML or JSON:
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

// BadRequest, saying which entry is wrong and why.
cox::Result<Preset> ParsePreset(const cox::core::v1::ConfigMap& map);

// Whether presets are for this Pod at all: not for those that opted out, nor for mirrors of static
// Pods, which the node has made already.
bool Wants(const cox::core::v1::Pod& pod);

// What stands against merging: which preset, and what it and the Pod (or a preset before it) say
// differently.
struct Clash {
  std::string preset;
  std::string what;
};

// Merges all of them, in the order of their names, or none: then the Pod is as before. What the
// Pod has already, with the same content, is no conflict; merging again changes nothing.
//
// Conflicts: an environment variable or a volume of the same name, a mount at the same path, with
// other contents.
std::optional<Clash> Merge(std::vector<Preset> presets, cox::core::v1::Pod& pod);

// How the API server is told to ask us: about Pods when they are created, and nothing else, so that
// what makes Pods never sees a preset.
cox::admissionregistration::v1::MutatingWebhookConfiguration Configuration(
    const std::string& name, cox::admissionregistration::v1::WebhookClientConfig client,
    const std::string& own_namespace);

}  // namespace preset

// SPDX-License-Identifier: Apache-2.0
#include "preset.h"

#include <algorithm>
#include <utility>

#include "api/meta/v1.h"
#include "object/codec/yaml/yaml.h"
#include "object/type/equal.h"

namespace preset {
namespace {

using cox::Result;
using cox::Status;
using cox::core::v1::Container;
using cox::core::v1::Pod;

// The name is part of an annotation key, which is limited to 63 characters.
constexpr size_t kMaxName = 63;
constexpr char kMirrorAnnotation[] = "kubernetes.io/config.mirror";

// Decodes one entry of the ConfigMap as a list of T. Unknown fields are errors.
template <class T>
Status ReadList(const cox::core::v1::ConfigMap& map, const char* entry, cox::List<T>& out) {
  const std::string* text = map.data.Get(entry);
  if (text == nullptr) return {};
  Result<cox::Value> list = cox::yaml::Parse(*text);
  if (!list.ok()) return list.status().WithContext(entry);
  if (list->is_null()) return {};
  if (!list->is_array()) return Status::BadRequest(std::string(entry) + ": is not a list");
  for (const cox::Value& item : list->as_array()) {
    cox::json::Strictness strict;
    Result<T> read = cox::json::FromValue<T>(item, &strict);
    if (!read.ok()) return read.status().WithContext(entry);
    if (!strict.errors.empty()) {
      return Status::BadRequest(std::string(entry) + ": " + strict.errors.front());
    }
    out.push_back(*std::move(read));
  }
  return {};
}

// Adds missing items. An item with the same key but different content is a conflict.
template <class T, class KeyOf>
bool AddAll(const cox::List<T>& items, const char* what, KeyOf key_of, cox::List<T>& to,
            std::string& clash) {
  for (const T& item : items) {
    const auto same = std::find_if(to.begin(), to.end(),
                                   [&](const T& there) { return key_of(there) == key_of(item); });
    if (same == to.end()) {
      to.push_back(item);
    } else if (!cox::DeepEqual(*same, item)) {
      clash = std::string(what) + " " + key_of(item);
      return false;
    }
  }
  return true;
}

// Returns false on a conflict, described in `clash`.
bool MergeIntoContainer(const Preset& preset, Container& container, std::string& clash) {
  std::string what;
  if (!AddAll(
          preset.env, "the environment variable", [](const auto& each) { return each.name; },
          container.env, what) ||
      !AddAll(
          preset.volume_mounts, "the mount at", [](const auto& each) { return each.mountPath; },
          container.volumeMounts, what)) {
    clash = what + " of container " + container.name;
    return false;
  }
  // Sources have no names. If several define a variable, the last one wins, as in Kubernetes.
  for (const auto& source : preset.env_from) {
    const bool there =
        std::any_of(container.envFrom.begin(), container.envFrom.end(),
                    [&source](const auto& each) { return cox::DeepEqual(each, source); });
    if (!there) container.envFrom.push_back(source);
  }
  return true;
}

bool MergeOne(const Preset& preset, Pod& pod, std::string& clash) {
  if (!AddAll(
          preset.volumes, "the volume", [](const auto& each) { return each.name; },
          pod.spec.volumes, clash)) {
    return false;
  }
  for (cox::List<Container>* containers : {&pod.spec.initContainers, &pod.spec.containers}) {
    for (Container& container : *containers) {
      if (!MergeIntoContainer(preset, container, clash)) return false;
    }
  }
  pod.metadata.annotations[kAnnotationPrefix + preset.name] = preset.resource_version;
  return true;
}

}  // namespace

Result<Preset> ParsePreset(const cox::core::v1::ConfigMap& map) {
  Preset preset;
  preset.name = map.metadata.name;
  preset.resource_version = map.metadata.resourceVersion;
  if (preset.name.size() > kMaxName) {
    return Status::BadRequest("the name of a preset has at most 63 characters");
  }
  const std::string* selector = map.data.Get("selector");
  if (selector == nullptr) return Status::BadRequest("selector: is required");
  Result<cox::Value> parsed = cox::yaml::Parse(*selector);
  if (!parsed.ok()) return parsed.status().WithContext("selector");
  cox::json::Strictness strict;
  auto labels = cox::json::FromValue<cox::meta::v1::LabelSelector>(*parsed, &strict);
  if (!labels.ok()) return labels.status().WithContext("selector");
  if (!strict.errors.empty()) return Status::BadRequest("selector: " + strict.errors.front());
  auto compiled = cox::labels::Selector::FromLabelSelector(&*labels);
  if (!compiled.ok()) return compiled.status().WithContext("selector");
  preset.selector = *std::move(compiled);
  COX_RETURN_IF_ERROR(ReadList(map, "env", preset.env));
  COX_RETURN_IF_ERROR(ReadList(map, "envFrom", preset.env_from));
  COX_RETURN_IF_ERROR(ReadList(map, "volumes", preset.volumes));
  COX_RETURN_IF_ERROR(ReadList(map, "volumeMounts", preset.volume_mounts));
  return preset;
}

bool Wants(const Pod& pod) {
  const std::string* exclude = pod.metadata.annotations.Get(kExcludeAnnotation);
  return !(exclude != nullptr && *exclude == "true") &&
         !pod.metadata.annotations.contains(kMirrorAnnotation);
}

std::optional<Clash> Merge(std::vector<Preset> presets, Pod& pod) {
  std::sort(presets.begin(), presets.end(),
            [](const Preset& a, const Preset& b) { return a.name < b.name; });
  Pod merged = pod;
  for (const Preset& preset : presets) {
    std::string clash;
    if (!MergeOne(preset, merged, clash)) return Clash{preset.name, std::move(clash)};
  }
  pod = std::move(merged);
  return std::nullopt;
}

cox::admissionregistration::v1::MutatingWebhookConfiguration Configuration(
    const std::string& name, cox::admissionregistration::v1::WebhookClientConfig client,
    const std::string& own_namespace) {
  cox::admissionregistration::v1::MutatingWebhookConfiguration configuration;
  configuration.metadata.name = name;
  auto& webhook = configuration.webhooks.emplace_back();
  webhook.name = "pods.podpreset.example.com";
  webhook.clientConfig = std::move(client);
  auto& rule = webhook.rules.emplace_back();
  rule.operations = {"CREATE"};
  rule.rule = {.apiGroups = {""}, .apiVersions = {"v1"}, .resources = {"pods"}};
  rule.rule.scope = "Namespaced";
  // The webhook must not block its own Pods or those of the control plane.
  webhook.namespaceSelector.emplace().matchExpressions.push_back(
      {.key = "kubernetes.io/metadata.name",
       .operator_ = "NotIn",
       .values = {own_namespace, "kube-system"}});
  webhook.failurePolicy = "Fail";
  // Conflicts are recorded as events.
  webhook.sideEffects = "NoneOnDryRun";
  webhook.reinvocationPolicy = "IfNeeded";
  webhook.timeoutSeconds = 5;
  webhook.admissionReviewVersions = {"v1"};
  return configuration;
}

}  // namespace preset

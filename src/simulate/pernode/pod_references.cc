// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/pod_references.h"

#include <algorithm>

namespace cox::simulate {
namespace {

class Collector {
 public:
  explicit Collector(const std::string& ns) : ns_(ns) {}

  void Add(bool is_secret, const std::string& name) {
    if (!name.empty()) found_.push_back({is_secret, ns_, name});
  }
  // Container, or the common fields of an ephemeral container.
  template <class Container>
  void AddContainer(const Container& container) {
    for (const auto& from : container.envFrom) {
      if (from.configMapRef) Add(false, from.configMapRef->localObjectReference.name);
      if (from.secretRef) Add(true, from.secretRef->localObjectReference.name);
    }
    for (const auto& variable : container.env) {
      if (!variable.valueFrom) continue;
      const auto& from = *variable.valueFrom;
      if (from.configMapKeyRef) Add(false, from.configMapKeyRef->localObjectReference.name);
      if (from.secretKeyRef) Add(true, from.secretKeyRef->localObjectReference.name);
    }
  }
  void AddVolume(const core::v1::VolumeSource& source) {
    if (source.configMap) Add(false, source.configMap->localObjectReference.name);
    if (source.secret) Add(true, source.secret->secretName);
    if (!source.projected) return;
    for (const auto& part : source.projected->sources) {
      if (part.configMap) Add(false, part.configMap->localObjectReference.name);
      if (part.secret) Add(true, part.secret->localObjectReference.name);
    }
  }
  std::vector<PodReference> Take() {
    std::ranges::sort(found_);
    const auto same = std::ranges::unique(found_);
    found_.erase(same.begin(), same.end());
    return std::move(found_);
  }

 private:
  const std::string& ns_;
  std::vector<PodReference> found_;
};

}  // namespace

std::vector<PodReference> ReferencesOf(const core::v1::Pod& pod) {
  Collector collector(pod.metadata.namespace_);
  for (const auto& container : pod.spec.initContainers) collector.AddContainer(container);
  for (const auto& container : pod.spec.containers) collector.AddContainer(container);
  for (const auto& container : pod.spec.ephemeralContainers) {
    collector.AddContainer(container.ephemeralContainerCommon);
  }
  for (const auto& volume : pod.spec.volumes) collector.AddVolume(volume.volumeSource);
  for (const auto& secret : pod.spec.imagePullSecrets) collector.Add(true, secret.name);
  return collector.Take();
}

void ReferenceWatches::Add(const PodReference& reference) {
  Counted& counted = watches_[reference];
  if (counted.pods++ > 0) return;
  // Names of objects and namespaces need no encoding in a URL.
  counted.watch = std::make_shared<ResourceWatch>(
      connection_, reference.is_secret ? WatchKind::kSecret : WatchKind::kConfigMap,
      "/api/v1/namespaces/" + reference.ns + (reference.is_secret ? "/secrets" : "/configmaps"),
      "fieldSelector=metadata.name%3D" + reference.name, nullptr);
  counted.watch->Start();
}

void ReferenceWatches::Remove(const PodReference& reference) {
  const auto found = watches_.find(reference);
  if (found != watches_.end() && --found->second.pods == 0) watches_.erase(found);
}

}  // namespace cox::simulate

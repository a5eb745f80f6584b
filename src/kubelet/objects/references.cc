// SPDX-License-Identifier: Apache-2.0
#include "kubelet/objects/references.h"

#include "kubelet/pod/containers.h"

namespace cox::kubelet {

using core::v1::Pod;

namespace {

class Collector {
 public:
  explicit Collector(const Pod& pod) : ns_(pod.metadata.namespace_) {}

  void ConfigMap(const std::string& name) { Add(ObjectReference::Kind::kConfigMap, name); }
  void Secret(const std::string& name) { Add(ObjectReference::Kind::kSecret, name); }

  void Container(const core::v1::Container& container) {
    for (const core::v1::EnvFromSource& from : container.envFrom) {
      if (from.configMapRef) ConfigMap(from.configMapRef->localObjectReference.name);
      if (from.secretRef) Secret(from.secretRef->localObjectReference.name);
    }
    for (const core::v1::EnvVar& var : container.env) {
      if (!var.valueFrom) continue;
      if (const auto& ref = var.valueFrom->configMapKeyRef)
        ConfigMap(ref->localObjectReference.name);
      if (const auto& ref = var.valueFrom->secretKeyRef) Secret(ref->localObjectReference.name);
    }
  }
  void Volume(const core::v1::VolumeSource& volume) {
    if (volume.configMap) ConfigMap(volume.configMap->localObjectReference.name);
    if (volume.secret) Secret(volume.secret->secretName);
    if (!volume.projected) return;
    for (const core::v1::VolumeProjection& source : volume.projected->sources) {
      if (source.configMap) ConfigMap(source.configMap->localObjectReference.name);
      if (source.secret) Secret(source.secret->localObjectReference.name);
    }
  }

  std::set<ObjectReference> Take() { return std::move(found_); }

 private:
  void Add(ObjectReference::Kind kind, const std::string& name) {
    if (!name.empty()) found_.insert({kind, {ns_, name}});
  }

  const std::string& ns_;
  std::set<ObjectReference> found_;
};

}  // namespace

std::set<ObjectReference> ReferencesOf(const Pod& pod) {
  Collector collector(pod);
  ForEachContainer(pod, [&collector](const core::v1::Container& container, ContainerKind) {
    collector.Container(container);
  });
  for (const core::v1::Volume& volume : pod.spec.volumes) collector.Volume(volume.volumeSource);
  for (const core::v1::LocalObjectReference& secret : pod.spec.imagePullSecrets) {
    collector.Secret(secret.name);
  }
  return collector.Take();
}

}  // namespace cox::kubelet

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/node/references.h"

#include <algorithm>
#include <tuple>

#include "apiserver/registry/kinds/core/pod/validation/annotations.h"

namespace cox::apiserver {
namespace {

using core::v1::PodSpec;
using pod::kMirrorAnnotation;

// Visits containers of all types; ephemeral containers have the same fields in another type.
template <class Visit>
void VisitContainers(const PodSpec& spec, const Visit& visit) {
  for (const auto& container : spec.initContainers) visit(container);
  for (const auto& container : spec.containers) visit(container);
  for (const auto& container : spec.ephemeralContainers) {
    visit(container.ephemeralContainerCommon);
  }
}

// Visits an optional reference, whose name may be empty.
template <class Ref>
void VisitRef(const Box<Ref>& ref, const NameVisitor& visit) {
  if (!ref) return;
  if constexpr (requires { ref->localObjectReference; }) {
    if (!ref->localObjectReference.name.empty()) visit(ref->localObjectReference.name);
  } else {
    if (!ref->name.empty()) visit(ref->name);
  }
}

// Visits the secretRef of a volume source.
template <class Source>
void VisitSecretRef(const Box<Source>& source, const NameVisitor& visit) {
  if (source) VisitRef(source->secretRef, visit);
}

void VisitVolumeSecrets(const core::v1::VolumeSource& source, const NameVisitor& visit) {
  if (source.azureFile && !source.azureFile->secretName.empty()) {
    visit(source.azureFile->secretName);
  }
  VisitSecretRef(source.cephfs, visit);
  VisitSecretRef(source.cinder, visit);
  VisitSecretRef(source.flexVolume, visit);
  VisitSecretRef(source.rbd, visit);
  VisitSecretRef(source.scaleIO, visit);
  VisitSecretRef(source.iscsi, visit);
  VisitSecretRef(source.storageos, visit);
  if (source.secret && !source.secret->secretName.empty()) visit(source.secret->secretName);
  if (source.csi) VisitRef(source.csi->nodePublishSecretRef, visit);
  if (!source.projected) return;
  for (const auto& part : source.projected->sources) VisitRef(part.secret, visit);
}

// The name of the claim for one of the Pod's spec.resourceClaims; empty if it has not been created.
std::string ResourceClaimOf(const core::v1::Pod& pod, const core::v1::PodResourceClaim& claim) {
  if (claim.resourceClaimName) return *claim.resourceClaimName;
  for (const auto& status : pod.status.resourceClaimStatuses) {
    if (status.name == claim.name) return status.resourceClaimName.value_or("");
  }
  return {};
}

void AddResourceClaims(const core::v1::Pod& pod, std::vector<NodeObjectRef>& references) {
  auto add = [&](const std::string& name) {
    if (!name.empty()) {
      references.push_back({NodeObject::kResourceClaim, pod.metadata.namespace_, name});
    }
  };
  for (const auto& claim : pod.spec.resourceClaims) add(ResourceClaimOf(pod, claim));
  if (pod.status.extendedResourceClaimStatus) {
    add(pod.status.extendedResourceClaimStatus->resourceClaimName);
  }
}

// Adds the secretRef of a volume source. If it has no namespace, the claim's namespace applies.
template <class Source>
void AddSecretRef(const Box<Source>& source, const std::string& claim_ns,
                  std::vector<NodeObjectRef>& secrets) {
  if (!source || !source->secretRef || source->secretRef->name.empty()) return;
  const auto& ref = *source->secretRef;
  secrets.push_back(
      {NodeObject::kSecret, ref.namespace_.empty() ? claim_ns : ref.namespace_, ref.name});
}

}  // namespace

void VisitSecretNames(const PodSpec& spec, const NameVisitor& visit) {
  for (const auto& secret : spec.imagePullSecrets) {
    if (!secret.name.empty()) visit(secret.name);
  }
  VisitContainers(spec, [&](const auto& container) {
    for (const auto& from : container.envFrom) VisitRef(from.secretRef, visit);
    for (const auto& variable : container.env) {
      if (variable.valueFrom) VisitRef(variable.valueFrom->secretKeyRef, visit);
    }
  });
  for (const auto& volume : spec.volumes) VisitVolumeSecrets(volume.volumeSource, visit);
}

void VisitConfigMapNames(const PodSpec& spec, const NameVisitor& visit) {
  VisitContainers(spec, [&](const auto& container) {
    for (const auto& from : container.envFrom) VisitRef(from.configMapRef, visit);
    for (const auto& variable : container.env) {
      if (variable.valueFrom) VisitRef(variable.valueFrom->configMapKeyRef, visit);
    }
  });
  for (const auto& volume : spec.volumes) {
    VisitRef(volume.volumeSource.configMap, visit);
    if (!volume.volumeSource.projected) continue;
    for (const auto& part : volume.volumeSource.projected->sources) VisitRef(part.configMap, visit);
  }
}

std::string EphemeralClaimName(const core::v1::Pod& pod, const core::v1::Volume& volume) {
  return pod.metadata.name + "-" + volume.name;
}

std::vector<NodeObjectRef> ReferencesOf(const core::v1::Pod& pod) {
  std::vector<NodeObjectRef> references;
  if (pod.metadata.annotations.Get(kMirrorAnnotation) != nullptr) return references;
  auto adder = [&](NodeObject type) {
    return [&references, &pod, type](const std::string& name) {
      references.push_back({type, pod.metadata.namespace_, name});
    };
  };
  if (!pod.spec.serviceAccountName.empty()) {
    adder(NodeObject::kServiceAccount)(pod.spec.serviceAccountName);
  }
  VisitSecretNames(pod.spec, adder(NodeObject::kSecret));
  VisitConfigMapNames(pod.spec, adder(NodeObject::kConfigMap));
  for (const auto& volume : pod.spec.volumes) {
    const auto& source = volume.volumeSource;
    if (source.persistentVolumeClaim) {
      adder(NodeObject::kClaim)(source.persistentVolumeClaim->claimName);
    } else if (source.ephemeral) {
      adder(NodeObject::kClaim)(EphemeralClaimName(pod, volume));
    }
  }
  AddResourceClaims(pod, references);
  // All references are in one namespace.
  auto order = [](const NodeObjectRef& a, const NodeObjectRef& b) {
    return std::tie(a.type, a.name) < std::tie(b.type, b.name);
  };
  std::sort(references.begin(), references.end(), order);
  references.erase(std::unique(references.begin(), references.end()), references.end());
  return references;
}

std::vector<NodeObjectRef> SecretsOf(const core::v1::PersistentVolume& volume) {
  std::vector<NodeObjectRef> secrets;
  const std::string claim_ns =
      volume.spec.claimRef ? volume.spec.claimRef->namespace_ : std::string();
  const core::v1::PersistentVolumeSource& source = volume.spec.persistentVolumeSource;
  if (source.azureFile && !source.azureFile->secretName.empty()) {
    const std::string ns = source.azureFile->secretNamespace.value_or("");
    secrets.push_back(
        {NodeObject::kSecret, ns.empty() ? claim_ns : ns, source.azureFile->secretName});
  }
  AddSecretRef(source.cephfs, claim_ns, secrets);
  AddSecretRef(source.cinder, claim_ns, secrets);
  AddSecretRef(source.flexVolume, claim_ns, secrets);
  AddSecretRef(source.rbd, claim_ns, secrets);
  AddSecretRef(source.scaleIO, claim_ns, secrets);
  AddSecretRef(source.iscsi, claim_ns, secrets);
  AddSecretRef(source.storageos, claim_ns, secrets);
  if (source.csi) {
    for (const auto* ref : {&source.csi->nodePublishSecretRef, &source.csi->nodeStageSecretRef,
                            &source.csi->nodeExpandSecretRef}) {
      if (*ref) secrets.push_back({NodeObject::kSecret, (*ref)->namespace_, (*ref)->name});
    }
  }
  return secrets;
}

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/defaults.h"

#include <algorithm>

#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"

namespace cox::apiserver {
namespace {

using core::v1::Container;
using core::v1::PodSpec;

constexpr int32_t kFileMode = 0644;
constexpr int64_t kTokenSeconds = 60 * 60;
constexpr int64_t kGracePeriodSeconds = 30;

template <class T, class U>
void Default(std::optional<T>& field, U&& value) {
  if (!field) field = std::forward<U>(value);
}
void Default(std::string& field, std::string_view value) {
  if (field.empty()) field = value;
}
void Default(int32_t& field, int32_t value) {
  if (field == 0) field = value;
}

// Images with the tag latest are always pulled, because the tag is mutable.
std::string_view PullPolicyFor(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  size_t slash = image.rfind('/');
  std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
  size_t colon = last.rfind(':');
  std::string_view tag = colon == std::string_view::npos ? "latest" : last.substr(colon + 1);
  return tag == "latest" ? "Always" : "IfNotPresent";
}

void DefaultHttpGet(core::v1::HTTPGetAction& action) {
  Default(action.path, "/");
  Default(action.scheme, "HTTP");
}

void DefaultProbe(core::v1::Probe* probe) {
  if (probe == nullptr) return;
  Default(probe->timeoutSeconds, 1);
  Default(probe->periodSeconds, 10);
  Default(probe->successThreshold, 1);
  Default(probe->failureThreshold, 3);
  if (probe->handler.httpGet) DefaultHttpGet(*probe->handler.httpGet);
  if (probe->handler.grpc) Default(probe->handler.grpc->service, "");
}

void DefaultHook(core::v1::LifecycleHandler* hook) {
  if (hook != nullptr && hook->httpGet) DefaultHttpGet(*hook->httpGet);
}

// Quantities are rounded up to multiples of 1/1000.
void RoundAmounts(Map<Quantity>& amounts) {
  for (auto& [name, amount] : amounts) amount.RoundUp(Quantity::kMilli);
}

void DefaultEnv(List<core::v1::EnvVar>& env) {
  for (core::v1::EnvVar& var : env) {
    if (!var.valueFrom) continue;
    if (var.valueFrom->fieldRef) Default(var.valueFrom->fieldRef->apiVersion, "v1");
    if (var.valueFrom->fileKeyRef) Default(var.valueFrom->fileKeyRef->optional, false);
  }
}

// Container and EphemeralContainerCommon have the same members.
template <class AnyContainer>
void DefaultContainer(AnyContainer& container) {
  Default(container.imagePullPolicy, PullPolicyFor(container.image));
  Default(container.terminationMessagePath, "/dev/termination-log");
  Default(container.terminationMessagePolicy, "File");
  for (core::v1::ContainerPort& port : container.ports) Default(port.protocol, "TCP");
  DefaultEnv(container.env);
  RoundAmounts(container.resources.limits);
  RoundAmounts(container.resources.requests);
  DefaultProbe(container.livenessProbe.get());
  DefaultProbe(container.readinessProbe.get());
  DefaultProbe(container.startupProbe.get());
  if (container.lifecycle) {
    DefaultHook(container.lifecycle->postStart.get());
    DefaultHook(container.lifecycle->preStop.get());
  }
}

void DefaultDownwardFiles(List<core::v1::DownwardAPIVolumeFile>& files) {
  for (core::v1::DownwardAPIVolumeFile& file : files)
    if (file.fieldRef) Default(file.fieldRef->apiVersion, "v1");
}

void DefaultProjected(core::v1::ProjectedVolumeSource& projected) {
  Default(projected.defaultMode, kFileMode);
  for (core::v1::VolumeProjection& source : projected.sources) {
    if (source.downwardAPI) DefaultDownwardFiles(source.downwardAPI->items);
    if (source.serviceAccountToken)
      Default(source.serviceAccountToken->expirationSeconds, kTokenSeconds);
    if (source.podCertificate) Default(source.podCertificate->maxExpirationSeconds, 24 * 60 * 60);
  }
}

void DefaultStorageSystems(core::v1::VolumeSource& source) {
  if (source.iscsi) Default(source.iscsi->iscsiInterface, "default");
  if (source.rbd) {
    Default(source.rbd->pool, "rbd");
    Default(source.rbd->user, "admin");
    Default(source.rbd->keyring, "/etc/ceph/keyring");
  }
  if (source.azureDisk) {
    Default(source.azureDisk->cachingMode, "ReadWrite");
    Default(source.azureDisk->kind, "Shared");
    Default(source.azureDisk->fsType, "ext4");
    Default(source.azureDisk->readOnly, false);
  }
  if (source.scaleIO) {
    Default(source.scaleIO->storageMode, "ThinProvisioned");
    Default(source.scaleIO->fsType, "xfs");
  }
}

bool IsEmpty(const core::v1::VolumeSource& s) {
  return !(s.hostPath || s.emptyDir || s.gcePersistentDisk || s.awsElasticBlockStore || s.gitRepo ||
           s.secret || s.nfs || s.iscsi || s.glusterfs || s.persistentVolumeClaim || s.rbd ||
           s.flexVolume || s.cinder || s.cephfs || s.flocker || s.downwardAPI || s.fc ||
           s.azureFile || s.configMap || s.vsphereVolume || s.quobyte || s.azureDisk ||
           s.photonPersistentDisk || s.projected || s.portworxVolume || s.scaleIO || s.storageos ||
           s.csi || s.ephemeral || s.image);
}

void DefaultVolume(core::v1::Volume& volume) {
  core::v1::VolumeSource& source = volume.volumeSource;
  if (IsEmpty(source)) source.emptyDir.emplace();
  if (source.hostPath) Default(source.hostPath->type, "");
  if (source.secret) Default(source.secret->defaultMode, kFileMode);
  if (source.configMap) Default(source.configMap->defaultMode, kFileMode);
  if (source.downwardAPI) {
    Default(source.downwardAPI->defaultMode, kFileMode);
    DefaultDownwardFiles(source.downwardAPI->items);
  }
  if (source.projected) DefaultProjected(*source.projected);
  if (source.ephemeral && source.ephemeral->volumeClaimTemplate) {
    core::v1::PersistentVolumeClaimSpec& claim = source.ephemeral->volumeClaimTemplate->spec;
    Default(claim.volumeMode, "Filesystem");
    RoundAmounts(claim.resources.limits);
    RoundAmounts(claim.resources.requests);
  }
  if (source.image) Default(source.image->pullPolicy, PullPolicyFor(source.image->reference));
  DefaultStorageSystems(source);
}

// On the host network, the container port is the host port.
void DefaultHostPorts(List<Container>& containers) {
  for (Container& container : containers) {
    for (core::v1::ContainerPort& port : container.ports)
      if (port.hostPort == 0) port.hostPort = port.containerPort;
  }
}

// A missing request is set to the limit.
void RequestLimits(core::v1::ResourceRequirements& resources) {
  for (const auto& [name, limit] : resources.limits)
    if (!resources.requests.contains(name)) resources.requests[name] = limit;
}

bool IsPodLevelName(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

// Missing requests of the pod: the sum of the container requests, else the limit of the pod.
void DefaultPodResources(PodSpec& spec) {
  if (!spec.resources || (spec.resources->limits.empty() && spec.resources->requests.empty()))
    return;
  Map<Quantity> total;
  auto add = [&](const List<Container>& containers, bool only_sidecars) {
    for (const Container& container : containers) {
      if (only_sidecars && container.restartPolicy != "Always") continue;
      for (const auto& [name, amount] : container.resources.requests)
        if (IsPodLevelName(name)) total[name].Add(amount);
    }
  };
  add(spec.containers, false);
  add(spec.initContainers, true);
  Map<Quantity>& requests = spec.resources->requests;
  for (const auto& [name, amount] : total) {
    if (requests.contains(name)) continue;
    // Hugepages cannot be overcommitted: the request must equal the limit.
    if (name.starts_with("hugepages-") && spec.resources->limits.contains(name)) continue;
    requests[name] = amount;
  }
  for (const auto& [name, limit] : spec.resources->limits)
    if (IsPodLevelName(name) && !requests.contains(name)) requests[name] = limit;
}

}  // namespace

void SetPodSpecDefaults(PodSpec& spec) {
  // The deprecated field is kept equal, because old clients read it.
  if (spec.serviceAccountName.empty()) spec.serviceAccountName = spec.serviceAccount;
  spec.serviceAccount = spec.serviceAccountName;
  Default(spec.dnsPolicy, "ClusterFirst");
  Default(spec.restartPolicy, "Always");
  if (!spec.securityContext) spec.securityContext.emplace();
  Default(spec.terminationGracePeriodSeconds, kGracePeriodSeconds);
  Default(spec.schedulerName, "default-scheduler");
  for (core::v1::Volume& volume : spec.volumes) DefaultVolume(volume);
  for (Container& container : spec.initContainers) DefaultContainer(container);
  for (Container& container : spec.containers) DefaultContainer(container);
  for (core::v1::EphemeralContainer& container : spec.ephemeralContainers)
    DefaultContainer(container.ephemeralContainerCommon);
  RoundAmounts(spec.overhead);
  if (spec.resources) {
    RoundAmounts(spec.resources->limits);
    RoundAmounts(spec.resources->requests);
  }
}

void SetPodTemplateDefaults(core::v1::PodTemplateSpec& pod_template) {
  SetPodSpecDefaults(pod_template.spec);
}

void SetPodDefaults(core::v1::Pod& pod) {
  PodSpec& spec = pod.spec;
  // Templates do not get these defaults, so that a LimitRange or a later default can apply.
  for (Container& container : spec.containers) RequestLimits(container.resources);
  for (Container& container : spec.initContainers) RequestLimits(container.resources);
  DefaultPodResources(spec);
  Default(spec.enableServiceLinks, true);
  SetPodSpecDefaults(spec);
  if (spec.hostNetwork) {
    DefaultHostPorts(spec.containers);
    DefaultHostPorts(spec.initContainers);
  }
  // Stored pods may have a negative grace period, which means the minimum.
  if (*spec.terminationGracePeriodSeconds < 0) spec.terminationGracePeriodSeconds = 1;
  core::v1::PodStatus& status = pod.status;
  // podIP is the first of podIPs; podIP takes precedence if the two differ.
  if (!status.podIP.empty() && (status.podIPs.empty() || status.podIPs[0].ip != status.podIP)) {
    status.podIPs = {{.ip = status.podIP}};
  } else if (status.podIP.empty() && !status.podIPs.empty()) {
    status.podIP = status.podIPs[0].ip;
  }
}

}  // namespace cox::apiserver

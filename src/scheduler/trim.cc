// SPDX-License-Identifier: Apache-2.0
#include "scheduler/trim.h"

#include <utility>
#include <vector>

#include "object/selector/fields.h"

namespace cox::scheduler {
namespace {

using core::v1::Container;
using core::v1::ContainerStatus;

void Trim(List<Container>& containers) {
  for (Container& container : containers) {
    Container kept;
    kept.name = std::move(container.name);
    kept.image = std::move(container.image);
    kept.ports = std::move(container.ports);
    kept.resources = std::move(container.resources);
    kept.restartPolicy = std::move(container.restartPolicy);
    container = std::move(kept);
  }
}

// For containers that are being resized, the allocated resources count.
void Trim(List<ContainerStatus>& statuses) {
  List<ContainerStatus> all;
  for (ContainerStatus& status : statuses) {
    if (status.allocatedResources.empty() && !status.resources) continue;
    ContainerStatus& kept = all.emplace_back();
    kept.name = std::move(status.name);
    kept.allocatedResources = std::move(status.allocatedResources);
    kept.resources = std::move(status.resources);
  }
  statuses = std::move(all);
}

}  // namespace

void Trim(core::v1::Pod& pod) {
  pod.metadata.annotations = {};
  Trim(pod.spec.containers);
  Trim(pod.spec.initContainers);
  pod.spec.ephemeralContainers = {};
  pod.spec.hostAliases = {};
  pod.spec.dnsConfig.reset();
  pod.spec.securityContext.reset();
  Trim(pod.status.containerStatuses);
  Trim(pod.status.initContainerStatuses);
  pod.status.ephemeralContainerStatuses = {};
  pod.status.podIPs = {};
  pod.status.hostIPs = {};
}

std::shared_ptr<const core::v1::Pod> Trimmed(const std::shared_ptr<const core::v1::Pod>& pod) {
  auto trimmed = std::make_shared<core::v1::Pod>(*pod);
  Trim(*trimmed);
  return trimmed;
}

CacheOptions TrimmedCache() {
  CacheOptions options;
  CacheScope pods;
  if (auto going = fields::Selector::Parse("status.phase!=Succeeded,status.phase!=Failed");
      going.ok()) {
    pods.fields = *std::move(going);
  }
  pods.transform = [](Object& object) {
    if (auto* pod = object.As<core::v1::Pod>()) Trim(*pod);
  };
  pods.transform_is_optional = true;
  options.by_resource.emplace_back(Resource::Of<core::v1::Pod>(), std::move(pods));
  return options;
}

}  // namespace cox::scheduler

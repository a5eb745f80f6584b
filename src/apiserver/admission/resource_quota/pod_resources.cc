// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/resource_quota/pod_resources.h"

#include <algorithm>

#include "apiserver/registry/core/resource_names.h"

namespace cox::apiserver::quota {
namespace {

using core::v1::Container;
using core::v1::ContainerStatus;
using core::v1::Pod;
using core::v1::ResourceRequirements;

bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || IsHugePageResourceName(name);
}

bool HasPodLevel(const Amounts& amounts) {
  return std::any_of(amounts.begin(), amounts.end(),
                     [](const auto& entry) { return IsPodLevelResource(entry.first); });
}

// The node cannot ever give what is wanted: what it has given is what counts.
bool IsResizeInfeasible(const Pod& pod) {
  return std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                     [](const core::v1::PodCondition& condition) {
                       return condition.type == "PodResizePending" &&
                              condition.reason == "Infeasible";
                     });
}

const ContainerStatus* StatusOf(const std::vector<ContainerStatus>& statuses,
                                const std::string& name) {
  for (const ContainerStatus& status : statuses) {
    if (status.name == name) return &status;
  }
  return nullptr;
}

PodResources Given(const ResourceRequirements& resources) {
  return {resources.requests, resources.limits};
}

// What is wanted, and what the node says that it gave.
PodResources WithActual(PodResources wanted, const ResourceRequirements& actual,
                        const Amounts& allocated, bool infeasible) {
  if (infeasible) wanted = {};
  RaiseTo(wanted.requests, actual.requests);
  RaiseTo(wanted.requests, allocated);
  RaiseTo(wanted.limits, actual.limits);
  return wanted;
}

PodResources OfContainer(const Container& container, const ContainerStatus* status,
                         bool infeasible) {
  if (status == nullptr || !status->resources) return Given(container.resources);
  return WithActual(Given(container.resources), *status->resources, status->allocatedResources,
                    infeasible);
}

void Add(PodResources& total, const PodResources& more) {
  quota::Add(total.requests, more.requests);
  quota::Add(total.limits, more.limits);
}

PodResources OfContainers(const Pod& pod, bool infeasible) {
  PodResources total;
  for (const Container& container : pod.spec.containers) {
    Add(total,
        OfContainer(container, StatusOf(pod.status.containerStatuses, container.name), infeasible));
  }
  PodResources sidecars, starting;
  for (const Container& container : pod.spec.initContainers) {
    const bool sidecar = container.restartPolicy == "Always";
    // Others have run and ended: nobody resizes them.
    const ContainerStatus* status =
        sidecar ? StatusOf(pod.status.initContainerStatuses, container.name) : nullptr;
    PodResources now = OfContainer(container, status, infeasible);
    if (sidecar) {
      Add(total, now);
      Add(sidecars, now);
      now = sidecars;
    } else {
      Add(now, sidecars);
    }
    RaiseTo(starting.requests, now.requests);
    RaiseTo(starting.limits, now.limits);
  }
  RaiseTo(total.requests, starting.requests);
  RaiseTo(total.limits, starting.limits);
  return total;
}

void TakeOver(Amounts& amounts, const Amounts& pod_level) {
  for (const auto& [name, amount] : pod_level) {
    if (IsPodLevelResource(name)) amounts[name] = amount;
  }
}

}  // namespace

bool HasPodLevelResources(const Pod& pod) {
  return pod.spec.resources &&
         (HasPodLevel(pod.spec.resources->requests) || HasPodLevel(pod.spec.resources->limits));
}

PodResources ResourcesOf(const Pod& pod) {
  const bool infeasible = IsResizeInfeasible(pod);
  PodResources total = OfContainers(pod, infeasible);
  if (HasPodLevelResources(pod)) {
    PodResources whole = Given(*pod.spec.resources);
    if (pod.status.resources) {
      whole = WithActual(std::move(whole), *pod.status.resources, pod.status.allocatedResources,
                         infeasible);
    }
    TakeOver(total.requests, whole.requests);
    TakeOver(total.limits, whole.limits);
  }
  quota::Add(total.requests, pod.spec.overhead);
  // Where nothing is limited the overhead is not either.
  quota::Add(total.limits, Masked(pod.spec.overhead, total.limits));
  return total;
}

}  // namespace cox::apiserver::quota

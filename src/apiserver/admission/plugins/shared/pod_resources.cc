// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/shared/pod_resources.h"

#include <algorithm>

#include "apiserver/registry/validation/resource_names.h"
#include "object/core/containers.h"
#include "object/core/pod_amounts.h"

namespace cox::apiserver::amounts {
namespace {

using core::v1::Container;
using core::v1::ContainerStatus;
using core::v1::Pod;
using core::v1::PodSpec;
using core::v1::PodStatus;
using core::v1::ResourceRequirements;

bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || IsHugePageResourceName(name);
}

bool HasPodLevel(const Amounts& amounts) {
  return std::any_of(amounts.begin(), amounts.end(),
                     [](const auto& entry) { return IsPodLevelResource(entry.first); });
}

// Reports whether the node can never fulfil a resize; the allocated resources then count.
bool IsResizeInfeasible(const PodStatus& status) {
  return std::any_of(status.conditions.begin(), status.conditions.end(),
                     [](const core::v1::PodCondition& condition) {
                       return condition.type == "PodResizePending" &&
                              condition.reason == "Infeasible";
                     });
}

const ContainerStatus* StatusOf(const List<ContainerStatus>& statuses, const std::string& name) {
  for (const ContainerStatus& status : statuses) {
    if (status.name == name) return &status;
  }
  return nullptr;
}

PodResources Given(const ResourceRequirements& resources) {
  return {resources.requests, resources.limits};
}

// The maximum of the requested resources and those reported by the node.
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

PodResources OfContainers(const PodSpec& spec, const PodStatus& status, bool infeasible) {
  const auto of = [&](const Container& container, bool init) {
    const ContainerStatus* actual = nullptr;
    if (!init) {
      actual = StatusOf(status.containerStatuses, container.name);
    } else if (core_rules::IsSidecar(container)) {
      // Other init containers have terminated and cannot be resized.
      actual = StatusOf(status.initContainerStatuses, container.name);
    }
    return OfContainer(container, actual, infeasible);
  };
  const auto add = [](PodResources& total, const PodResources& more) {
    Add(total.requests, more.requests);
    Add(total.limits, more.limits);
  };
  const auto raise = [](PodResources& total, const PodResources& other) {
    RaiseTo(total.requests, other.requests);
    RaiseTo(total.limits, other.limits);
  };
  return core_rules::AggregateContainerResources(spec, of, add, raise);
}

void TakeOver(Amounts& amounts, const Amounts& pod_level) {
  for (const auto& [name, amount] : pod_level) {
    if (IsPodLevelResource(name)) amounts[name] = amount;
  }
}

bool HasPodLevel(const PodSpec& spec) {
  return spec.resources &&
         (HasPodLevel(spec.resources->requests) || HasPodLevel(spec.resources->limits));
}

PodResources WithoutOverhead(const PodSpec& spec, const PodStatus& status) {
  const bool infeasible = IsResizeInfeasible(status);
  PodResources total = OfContainers(spec, status, infeasible);
  if (!HasPodLevel(spec)) return total;
  PodResources whole = Given(*spec.resources);
  if (status.resources) {
    whole = WithActual(std::move(whole), *status.resources, status.allocatedResources, infeasible);
  }
  TakeOver(total.requests, whole.requests);
  TakeOver(total.limits, whole.limits);
  return total;
}

}  // namespace

bool HasPodLevelResources(const Pod& pod) { return HasPodLevel(pod.spec); }

PodResources ResourcesOf(const Pod& pod) {
  PodResources total = WithoutOverhead(pod.spec, pod.status);
  Add(total.requests, pod.spec.overhead);
  // Overhead is added only to existing limits.
  Add(total.limits, Masked(pod.spec.overhead, total.limits));
  return total;
}

PodResources SpecResources(const PodSpec& spec) { return WithoutOverhead(spec, {}); }

}  // namespace cox::apiserver::amounts

// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resources/requests.h"

#include <algorithm>

#include "kubelet/pod/containers.h"
#include "object/core/pod_amounts.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::Pod;

namespace {

// The minimum priority of system-cluster-critical and system-node-critical.
constexpr int32_t kSystemCritical = 2'000'000'000;
constexpr int kGuaranteedScore = -997;
constexpr int kBestEffortScore = 1000;

int64_t Amount(const Map<Quantity>& list, std::string_view resource) {
  const Quantity* quantity = list.Get(resource);
  if (quantity == nullptr) return 0;
  return resource == "cpu" ? quantity->MilliValue() : quantity->Value();
}

template <class Of>
PodAmount Aggregate(const Pod& pod, Of of) {
  return core_rules::AggregateContainerResources(
      pod.spec,
      [&of](const Container& container, bool) {
        const int64_t amount = of(container);
        return PodAmount{.value = amount, .everywhere = amount != 0};
      },
      [](PodAmount& total, const PodAmount& more) {
        total.value += more.value;
        total.everywhere &= more.everywhere;
      },
      [](PodAmount& amount, const PodAmount& other) {
        amount.value = std::max(amount.value, other.value);
        amount.everywhere &= other.everywhere;
      });
}

bool IsGuaranteed(const Pod& pod) {
  const auto fixed = [](const core::v1::ResourceRequirements& resources) {
    for (const char* resource : {"cpu", "memory"}) {
      const int64_t limit = Amount(resources.limits, resource);
      if (limit == 0) return false;
      const Quantity* request = resources.requests.Get(resource);
      if (request != nullptr && Amount(resources.requests, resource) != limit) return false;
    }
    return true;
  };
  if (pod.spec.resources) return fixed(*pod.spec.resources);
  for (const auto* list : {&pod.spec.containers, &pod.spec.initContainers}) {
    for (const Container& container : *list) {
      if (!fixed(container.resources)) return false;
    }
  }
  return true;
}

bool HasRequestsOrLimits(const Pod& pod) {
  const auto asks = [](const core::v1::ResourceRequirements& resources) {
    for (const char* resource : {"cpu", "memory"}) {
      if (Amount(resources.requests, resource) != 0) return true;
      if (Amount(resources.limits, resource) != 0) return true;
    }
    return false;
  };
  if (pod.spec.resources && asks(*pod.spec.resources)) return true;
  for (const auto* list : {&pod.spec.containers, &pod.spec.initContainers}) {
    for (const Container& container : *list) {
      if (asks(container.resources)) return true;
    }
  }
  return false;
}

// The container's request plus its share of Pod-level requests that no container requests.
int64_t SharedRequest(const Pod& pod, const Container& container) {
  int64_t request = ContainerRequest(container, "memory");
  if (!pod.spec.resources || pod.spec.containers.empty()) return request;
  int64_t own = 0;
  for (const Container& main : pod.spec.containers) own += ContainerRequest(main, "memory");
  const int64_t rest = Amount(pod.spec.resources->requests, "memory") - own;
  if (rest > 0) request += rest / static_cast<int64_t>(pod.spec.containers.size());
  return request;
}

int BurstableScore(const Pod& pod, const Container& container, int64_t capacity) {
  const int64_t request = SharedRequest(pod, container);
  const int64_t score = capacity <= 0
                            ? kBestEffortScore
                            : 1000 - static_cast<int64_t>(1000.0 * static_cast<double>(request) /
                                                          static_cast<double>(capacity));
  // Between the scores of Guaranteed and BestEffort.
  return static_cast<int>(
      std::clamp<int64_t>(score, 1000 + kGuaranteedScore, kBestEffortScore - 1));
}

}  // namespace

std::string QosClass(const Pod& pod) {
  if (!pod.status.qosClass.empty()) return pod.status.qosClass;
  if (!HasRequestsOrLimits(pod)) return core::v1::kPodQOSBestEffort;
  return IsGuaranteed(pod) ? core::v1::kPodQOSGuaranteed : core::v1::kPodQOSBurstable;
}

int64_t ContainerRequest(const Container& container, std::string_view resource) {
  const core::v1::ResourceRequirements& resources = container.resources;
  return resources.requests.contains(resource) ? Amount(resources.requests, resource)
                                               : Amount(resources.limits, resource);
}

int64_t ContainerLimit(const Container& container, std::string_view resource) {
  return Amount(container.resources.limits, resource);
}

PodAmount PodRequest(const Pod& pod, std::string_view resource) {
  PodAmount total =
      Aggregate(pod, [resource](const Container& c) { return ContainerRequest(c, resource); });
  if (pod.spec.resources && pod.spec.resources->requests.contains(resource)) {
    total = {.value = Amount(pod.spec.resources->requests, resource)};
  }
  total.value += Amount(pod.spec.overhead, resource);
  return total;
}

PodAmount PodLimit(const Pod& pod, std::string_view resource) {
  PodAmount total =
      Aggregate(pod, [resource](const Container& c) { return ContainerLimit(c, resource); });
  if (pod.spec.resources && pod.spec.resources->limits.contains(resource)) {
    total = {.value = Amount(pod.spec.resources->limits, resource)};
  }
  if (total.value != 0) total.value += Amount(pod.spec.overhead, resource);
  return total;
}

int OomScoreAdjust(const Pod& pod, const Container& container, int64_t capacity) {
  if (pod.spec.priority.value_or(0) >= kSystemCritical) return kGuaranteedScore;
  const std::string qos = QosClass(pod);
  if (qos == core::v1::kPodQOSGuaranteed) return kGuaranteedScore;
  if (qos == core::v1::kPodQOSBestEffort) return kBestEffortScore;
  int score = BurstableScore(pod, container, capacity);
  const bool is_sidecar = std::any_of(
      pod.spec.initContainers.begin(), pod.spec.initContainers.end(),
      [&](const Container& init) { return init.name == container.name && IsSidecar(init); });
  if (is_sidecar) {
    // A sidecar must not be killed before the main containers that depend on it.
    for (const Container& main : pod.spec.containers) {
      score = std::min(score, BurstableScore(pod, main, capacity));
    }
  }
  return score;
}

}  // namespace cox::kubelet

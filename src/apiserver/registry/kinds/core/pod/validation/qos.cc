// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/validation/qos.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kCompute[] = {"cpu", "memory"};

class QosCounter {
 public:
  void Add(const core::v1::ResourceRequirements& resources) {
    for (std::string_view name : kCompute) {
      Sum(resources.requests, name, requests_);
      if (!Sum(resources.limits, name, limits_)) all_limited_ = false;
    }
  }

  std::string_view Class() const {
    if (requests_.empty() && limits_.empty()) return core::v1::kPodQOSBestEffort;
    return all_limited_ && RequestsEqualLimits() ? core::v1::kPodQOSGuaranteed
                                                 : core::v1::kPodQOSBurstable;
  }

 private:
  // Zero counts as not set. True if something was added.
  static bool Sum(const Map<Quantity>& amounts, std::string_view name, Map<Quantity>& total) {
    const Quantity* amount = amounts.Get(name);
    if (amount == nullptr || amount->Sign() <= 0) return false;
    total[name].Add(*amount);
    return true;
  }

  bool RequestsEqualLimits() const {
    if (requests_.size() != limits_.size()) return false;
    for (const auto& [name, request] : requests_) {
      const Quantity* limit = limits_.Get(name);
      if (limit == nullptr || limit->Cmp(request) != 0) return false;
    }
    return true;
  }

  Map<Quantity> requests_, limits_;
  bool all_limited_ = true;
};

}  // namespace

std::string_view ComputePodQOS(const core::v1::PodSpec& spec) {
  QosCounter counter;
  const bool of_pod =
      spec.resources && (!spec.resources->limits.empty() || !spec.resources->requests.empty());
  if (of_pod) {
    counter.Add(*spec.resources);
  } else {
    for (const core::v1::Container& container : spec.containers) counter.Add(container.resources);
    for (const core::v1::Container& container : spec.initContainers)
      counter.Add(container.resources);
  }
  return counter.Class();
}

}  // namespace cox::apiserver

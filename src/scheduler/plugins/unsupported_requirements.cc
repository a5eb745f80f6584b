// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

constexpr std::string_view kName = "UnsupportedRequirements";

using core::v1::Pod;

template <typename Affinity>
bool HasRequired(const Affinity& affinity) {
  return affinity.has_value() && !affinity->requiredDuringSchedulingIgnoredDuringExecution.empty();
}

bool HasRequiredPodAffinity(const Pod& pod) {
  return pod.spec.affinity && HasRequired(pod.spec.affinity->podAffinity);
}
bool HasRequiredPodAntiAffinity(const Pod& pod) {
  return pod.spec.affinity && HasRequired(pod.spec.affinity->podAntiAffinity);
}
bool HasRequiredSpread(const Pod& pod) {
  const auto& constraints = pod.spec.topologySpreadConstraints;
  return std::any_of(constraints.begin(), constraints.end(), [](const auto& constraint) {
    return constraint.whenUnsatisfiable == "DoNotSchedule";
  });
}
bool HasClaimVolume(const Pod& pod) {
  const auto& volumes = pod.spec.volumes;
  return std::any_of(volumes.begin(), volumes.end(), [](const auto& volume) {
    return volume.volumeSource.persistentVolumeClaim.has_value();
  });
}
bool HasEphemeralVolume(const Pod& pod) {
  const auto& volumes = pod.spec.volumes;
  return std::any_of(volumes.begin(), volumes.end(),
                     [](const auto& volume) { return volume.volumeSource.ephemeral.has_value(); });
}
bool HasResourceClaims(const Pod& pod) { return !pod.spec.resourceClaims.empty(); }

struct Requirement {
  bool (*requested_by)(const Pod& pod);
  std::string_view reason;
};
constexpr Requirement kRequirements[] = {
    {HasRequiredPodAffinity, "required Pod affinity is not implemented"},
    {HasRequiredPodAntiAffinity, "required Pod anti-affinity is not implemented"},
    {HasRequiredSpread,
     "topology spread constraints with whenUnsatisfiable DoNotSchedule are not implemented"},
    {HasClaimVolume, "persistentVolumeClaim volumes are not implemented"},
    {HasEphemeralVolume, "ephemeral volumes are not implemented"},
    {HasResourceClaims, "resource claims are not implemented"},
};

// Rejects Pods with a requirement that no plugin checks, because a node that does not satisfy it
// would be wrong. Remove a line of kRequirements when a plugin implements it. Preferences that no
// plugin implements are ignored.
//
// It has no events: the requirements of a Pod cannot be changed, and nothing else makes the Pod
// schedulable.
class UnsupportedRequirements final : public PreFilterPlugin {
 public:
  std::string_view name() const override { return kName; }
  bool Sign(const PodInfo& pod, Signature& signature) const override {
    int64_t requested = 0;
    for (const Requirement& requirement : kRequirements) {
      requested = requested * 2 + (requirement.requested_by(*pod.pod) ? 1 : 0);
    }
    signature.Add(requested);
    return true;
  }
  PreFilterResult PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) const override {
    std::vector<std::string> reasons;
    for (const Requirement& requirement : kRequirements) {
      if (requirement.requested_by(*pod.pod)) reasons.emplace_back(requirement.reason);
    }
    if (reasons.empty()) return {.status = PluginStatus::Skip(), .nodes = {}};
    return {.status = PluginStatus(Code::kUnschedulableAndUnresolvable, kName, std::move(reasons)),
            .nodes = {}};
  }
};

}  // namespace

std::unique_ptr<Plugin> NewUnsupportedRequirements(const PluginHandle&) {
  return std::make_unique<UnsupportedRequirements>();
}

}  // namespace cox::scheduler

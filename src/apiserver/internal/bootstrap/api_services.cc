// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/bootstrap/api_services.h"

#include <string>
#include <string_view>

#include "apiserver/registry/served/served.h"

namespace cox::apiserver {
namespace {

// The priority of groups in clients: if a name is in several groups, the group with the higher
// value applies.
struct GroupPriority {
  std::string_view group;
  int32_t minimum;
};
constexpr GroupPriority kGroups[] = {
    {"", 18000},
    {"apps", 17800},
    {"events.k8s.io", 17750},
    {"authentication.k8s.io", 17700},
    {"authorization.k8s.io", 17600},
    {"autoscaling", 17500},
    {"batch", 17400},
    {"certificates.k8s.io", 17300},
    {"networking.k8s.io", 17200},
    {"policy", 17100},
    {"rbac.authorization.k8s.io", 17000},
    {"storage.k8s.io", 16800},
    {"admissionregistration.k8s.io", 16700},
    {"apiextensions.k8s.io", 16700},
    {"scheduling.k8s.io", 16600},
    {"coordination.k8s.io", 16500},
    {"node.k8s.io", 16300},
    {"discovery.k8s.io", 16200},
    {"resource.k8s.io", 16200},
    {"flowcontrol.apiserver.k8s.io", 16100},
};
constexpr int32_t kOtherGroups = 15000;
constexpr int32_t kVersionPriority = 15;
constexpr int32_t kBetterVersionPriority = 30;  // autoscaling/v2 is preferred to v1

int32_t GroupMinimum(std::string_view group) {
  for (const GroupPriority& row : kGroups) {
    if (row.group == group) return row.minimum;
  }
  return kOtherGroups;
}

int32_t VersionPriority(const ServedGroup& group, std::string_view version) {
  if (group.name().empty()) return 1;
  const bool first_of_several = group.versions().size() > 1 && group.versions().front() == version;
  return first_of_several ? kBetterVersionPriority : kVersionPriority;
}

}  // namespace

List<apiregistration::v1::APIService> LocalApiServices() {
  List<apiregistration::v1::APIService> services;
  for (const ServedGroup& group : GroupsOf(DefaultServedKinds())) {
    // The group of APIServices has no APIService.
    if (group.name() == apiregistration::v1::APIService::kKind.group) continue;
    for (const std::string& version : group.versions()) {
      apiregistration::v1::APIService& service = services.emplace_back();
      service.metadata.name = version + "." + group.name();
      service.metadata.labels["kube-aggregator.kubernetes.io/automanaged"] = "onstart";
      service.spec.group = group.name();
      service.spec.version = version;
      service.spec.groupPriorityMinimum = GroupMinimum(group.name());
      service.spec.versionPriority = VersionPriority(group, version);
    }
  }
  return services;
}

}  // namespace cox::apiserver

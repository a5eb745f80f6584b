// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/scale/scale_managers.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kScaleVersion = "autoscaling/v1";

// The path is the same in a Scale and in all built-in workloads.
const apply::Path& Replicas() {
  static const apply::Path kPath = {apply::PathElement::Field("spec"),
                                    apply::PathElement::Field("replicas")};
  return kPath;
}

// Appliers have the same ID in all versions; the IDs of updaters contain the version.
apply::ManagerId At(apply::ManagerId id, std::string_view version) {
  if (!id.applies) id.api_version = version;
  return id;
}

}  // namespace

apply::Managers ToScaleManagers(const apply::Managers& workload, std::string_view version) {
  apply::Managers scale;
  for (const auto& [id, owned] : workload) {
    if (owned.api_version != version || !owned.fields.Has(Replicas())) continue;
    scale[At(id, kScaleVersion)] = {
        .fields = {Replicas()}, .api_version = std::string(kScaleVersion), .time = owned.time};
  }
  return scale;
}

apply::Managers FromScaleManagers(const apply::Managers& workload, const apply::Managers& scale,
                                  std::string_view version) {
  apply::Managers result;
  for (const auto& [id, owned] : workload) {
    if (owned.api_version != version) continue;  // a version that is no longer served
    apply::Ownership kept = owned;
    const auto there = scale.find(At(id, kScaleVersion));
    const bool stays = there != scale.end() && there->second.fields.Has(Replicas());
    if (!stays) kept.fields = kept.fields.Difference({Replicas()});
    if (!kept.fields.Empty()) result[id] = std::move(kept);
  }
  for (const auto& [id, owned] : scale) {
    if (!owned.fields.Has(Replicas())) continue;
    // Previous owners are already in `result` with all their fields; only new ones are added. The
    // time of appliers is empty, as upstream.
    result.try_emplace(At(id, version),
                       apply::Ownership{.fields = {Replicas()},
                                        .api_version = std::string(version),
                                        .time = id.applies ? std::string() : owned.time});
  }
  return result;
}

}  // namespace cox::apiserver

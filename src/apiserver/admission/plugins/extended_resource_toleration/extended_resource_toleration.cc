// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/extended_resource_toleration/extended_resource_toleration.h"

#include <set>

#include "api/core/v1.h"
#include "apiserver/admission/plugins/shared/pod_requests.h"
#include "apiserver/registry/validation/resource_names.h"

namespace cox::apiserver {
namespace {

using core::v1::Container;
using core::v1::Pod;
using core::v1::Toleration;

// Nodes with devices have a taint with the name of the extended resource. Adds the toleration to
// Pods that request the resource.
class ExtendedResourceToleration final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "ExtendedResourceToleration"; }

  Status Mutate(Context&, const AdmissionRequest& request, Object& object) const override {
    Pod* pod = CreatedOrUpdatedPod(request, object);
    if (pod == nullptr) return {};
    std::set<std::string> names;
    const auto note = [&](const List<Container>& containers) {
      for (const Container& container : containers) {
        for (const auto& [name, amount] : container.resources.requests) {
          if (IsExtendedResourceName(name)) names.insert(name);
        }
      }
    };
    note(pod->spec.containers);
    note(pod->spec.initContainers);
    for (const std::string& name : names) {
      Toleration toleration;
      toleration.key = name;
      toleration.operator_ = core::v1::kTolerationOpExists;
      toleration.effect = core::v1::kTaintEffectNoSchedule;
      AddOrReplace(pod->spec.tolerations, std::move(toleration));
    }
    return {};
  }

 private:
  // Replaces a toleration that matches the same taints.
  static void AddOrReplace(List<Toleration>& tolerations, Toleration toleration) {
    for (Toleration& own : tolerations) {
      if (own.key == toleration.key && own.effect == toleration.effect &&
          own.operator_ == toleration.operator_ && own.value == toleration.value) {
        own = std::move(toleration);
        return;
      }
    }
    tolerations.push_back(std::move(toleration));
  }
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewExtendedResourceToleration(const AdmissionParts&) {
  return std::make_unique<ExtendedResourceToleration>();
}

}  // namespace cox::apiserver

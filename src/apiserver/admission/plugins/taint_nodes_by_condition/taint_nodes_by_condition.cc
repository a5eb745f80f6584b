// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/taint_nodes_by_condition/taint_nodes_by_condition.h"

#include <algorithm>

#include "api/core/v1.h"

namespace cox::apiserver {
namespace {

// Taints new nodes as not ready, so that no Pods are scheduled to them before they report ready.
class TaintNodesByCondition final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "TaintNodesByCondition"; }

  Status Mutate(Context&, const AdmissionRequest& request, Object& object) const override {
    if (request.operation != Operation::kCreate || !request.subresource.empty()) return {};
    auto* node = object.As<core::v1::Node>();
    if (node == nullptr) return {};
    constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
    const bool tainted = std::any_of(
        node->spec.taints.begin(), node->spec.taints.end(), [&](const core::v1::Taint& taint) {
          return taint.key == kNotReady && taint.effect == core::v1::kTaintEffectNoSchedule;
        });
    if (tainted) return {};
    core::v1::Taint taint;
    taint.key = kNotReady;
    taint.effect = core::v1::kTaintEffectNoSchedule;
    node->spec.taints.push_back(std::move(taint));
    return {};
  }
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewTaintNodesByCondition(const AdmissionParts&) {
  return std::make_unique<TaintNodesByCondition>();
}

}  // namespace cox::apiserver

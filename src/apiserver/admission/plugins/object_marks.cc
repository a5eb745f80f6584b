// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/core/v1.h"
#include "api/storage/v1.h"
#include "apiserver/admission/plugins.h"
#include "object/owner.h"

// Marks that new objects carry for the controllers that will look after them.
namespace cox::apiserver {
namespace {

// Volumes and claims that are in use outlive their deletion.
class StorageObjectInUseProtection final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "StorageObjectInUseProtection"; }

  Status Mutate(Context&, const AdmissionRequest& request, Object& object) const override {
    if (request.operation != Operation::kCreate || !request.subresource.empty()) return {};
    if (auto* volume = object.As<core::v1::PersistentVolume>()) {
      AddFinalizer(&volume->metadata, "kubernetes.io/pv-protection");
    }
    if (auto* claim = object.As<core::v1::PersistentVolumeClaim>()) {
      AddFinalizer(&claim->metadata, "kubernetes.io/pvc-protection");
    }
    if (auto* attributes = object.As<storage::v1::VolumeAttributesClass>()) {
      AddFinalizer(&attributes->metadata, "kubernetes.io/vac-protection");
    }
    return {};
  }
};

// A new node takes no Pods before somebody has seen it ready.
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

std::unique_ptr<const AdmissionPlugin> NewStorageObjectInUseProtection(const AdmissionParts&) {
  return std::make_unique<StorageObjectInUseProtection>();
}

std::unique_ptr<const AdmissionPlugin> NewTaintNodesByCondition(const AdmissionParts&) {
  return std::make_unique<TaintNodesByCondition>();
}

}  // namespace cox::apiserver

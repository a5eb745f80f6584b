// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/storage_object_in_use_protection/storage_object_in_use_protection.h"

#include "api/core/v1.h"
#include "api/storage/v1.h"
#include "object/owner.h"

namespace cox::apiserver {
namespace {

// Adds finalizers that prevent the removal of storage objects while they are in use.
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

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewStorageObjectInUseProtection(const AdmissionParts&) {
  return std::make_unique<StorageObjectInUseProtection>();
}

}  // namespace cox::apiserver

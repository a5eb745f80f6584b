// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/persistent_volume_claim_resize/persistent_volume_claim_resize.h"

#include "api/core/v1.h"
#include "api/storage/v1.h"
#include "apiserver/admission/plugins/shared/claim_class.h"

namespace cox::apiserver {
namespace {

using core::v1::PersistentVolumeClaim;
using storage::v1::StorageClass;

// Allows the expansion of a claim only if its StorageClass allows it.
class PersistentVolumeClaimResize final : public AdmissionPlugin {
 public:
  explicit PersistentVolumeClaimResize(const Registry& registry)
      : classes_(registry.Hub(StorageClass::kKind).store()) {}

  std::string_view name() const override { return "PersistentVolumeClaimResize"; }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    if (request.operation != Operation::kUpdate || !request.subresource.empty()) return {};
    const auto* claim = request.object->As<PersistentVolumeClaim>();
    if (claim == nullptr || request.old == nullptr) return {};
    const auto& old = *request.old->As<PersistentVolumeClaim>();
    if (StorageOf(*claim) <= StorageOf(old)) return {};
    const auto refused = [&](std::string_view why) {
      return ForbiddenError(request.resource.resource(), request.name, why);
    };
    if (old.status.phase != core::v1::kClaimBound) {
      return refused("Only bound persistent volume claims can be expanded");
    }
    COX_ASSIGN_OR_RETURN(const bool allowed, ClassAllows(ctx, *claim, old));
    return allowed ? Status()
                   : refused(
                         "only dynamically provisioned pvc can be resized and the storageclass "
                         "that provisions the pvc must support resize");
  }

 private:
  static Quantity StorageOf(const PersistentVolumeClaim& claim) {
    const Quantity* storage = claim.spec.resources.requests.Get("storage");
    return storage == nullptr ? Quantity() : *storage;
  }

  Result<bool> ClassAllows(Context& ctx, const PersistentVolumeClaim& claim,
                           const PersistentVolumeClaim& old) const {
    const std::string name = StorageClassOf(claim).value_or("");
    if (name.empty() || StorageClassOf(old).value_or("") != name) return false;
    const Result<Object> found = classes_.Get(ctx, "", name, /*from_cache=*/true);
    if (found.status().Is(Reason::kNotFound)) return false;
    if (!found.ok()) return found.status();
    return found->As<StorageClass>()->allowVolumeExpansion.value_or(false);
  }

  const ResourceStore& classes_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewPersistentVolumeClaimResize(const AdmissionParts& parts) {
  return std::make_unique<PersistentVolumeClaimResize>(parts.registry);
}

}  // namespace cox::apiserver

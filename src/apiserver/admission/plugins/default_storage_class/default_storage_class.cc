// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/default_storage_class/default_storage_class.h"

#include "api/core/v1.h"
#include "api/storage/v1.h"
#include "apiserver/admission/plugins/shared/claim_class.h"
#include "apiserver/admission/plugins/shared/default_class.h"

namespace cox::apiserver {
namespace {

using core::v1::PersistentVolumeClaim;
using storage::v1::StorageClass;

class DefaultStorageClass final : public AdmissionPlugin {
 public:
  explicit DefaultStorageClass(const Registry& registry)
      : classes_(registry.Hub(StorageClass::kKind).store()) {}

  std::string_view name() const override { return "DefaultStorageClass"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    if (request.operation != Operation::kCreate || !request.subresource.empty()) return {};
    auto* claim = object.As<PersistentVolumeClaim>();
    if (claim == nullptr || StorageClassOf(*claim)) return {};
    static constexpr std::string_view kAnnotations[] = {
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class"};
    COX_ASSIGN_OR_RETURN(claim->spec.storageClassName, DefaultClass(ctx, classes_, kAnnotations));
    return {};
  }

 private:
  const ResourceStore& classes_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewDefaultStorageClass(const AdmissionParts& parts) {
  return std::make_unique<DefaultStorageClass>(parts.registry);
}

}  // namespace cox::apiserver

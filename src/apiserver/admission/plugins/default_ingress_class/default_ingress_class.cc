// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/default_ingress_class/default_ingress_class.h"

#include "api/networking/v1.h"
#include "apiserver/admission/plugins/shared/default_class.h"

namespace cox::apiserver {
namespace {

using networking::v1::Ingress;
using networking::v1::IngressClass;

class DefaultIngressClass final : public AdmissionPlugin {
 public:
  explicit DefaultIngressClass(const Registry& registry)
      : classes_(registry.Hub(IngressClass::kKind).store()) {}

  std::string_view name() const override { return "DefaultIngressClass"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    if (request.operation != Operation::kCreate || !request.subresource.empty()) return {};
    auto* ingress = object.As<Ingress>();
    // The annotation is the deprecated way to select an ingress controller.
    if (ingress == nullptr || ingress->spec.ingressClassName ||
        ingress->metadata.annotations.contains("kubernetes.io/ingress.class")) {
      return {};
    }
    static constexpr std::string_view kAnnotations[] = {
        "ingressclass.kubernetes.io/is-default-class"};
    COX_ASSIGN_OR_RETURN(ingress->spec.ingressClassName, DefaultClass(ctx, classes_, kAnnotations));
    return {};
  }

 private:
  const ResourceStore& classes_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewDefaultIngressClass(const AdmissionParts& parts) {
  return std::make_unique<DefaultIngressClass>(parts.registry);
}

}  // namespace cox::apiserver

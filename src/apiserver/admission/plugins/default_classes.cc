// SPDX-License-Identifier: Apache-2.0
#include <span>

#include "api/core/v1.h"
#include "api/networking/v1.h"
#include "api/storage/v1.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/admission/plugins/claim_class.h"
#include "apiserver/admission/stored_objects.h"

// Classes for those that name none, and what a class permits.
namespace cox::apiserver {
namespace {

using core::v1::PersistentVolumeClaim;
using networking::v1::Ingress;
using networking::v1::IngressClass;
using storage::v1::StorageClass;

// The class that one of `annotations` calls the default. Of several the youngest, so that a new
// default can be set before the old one is taken back; of those made at once the first by name.
Result<std::optional<std::string>> DefaultClass(Context& ctx, const ResourceStore& classes,
                                                std::span<const std::string_view> annotations) {
  std::optional<meta::v1::ObjectMeta> best;
  COX_RETURN_IF_ERROR(VisitObjects(ctx, classes, "", [&](const Object& object) {
    const meta::v1::ObjectMeta& meta = *object.object_meta();
    bool is_default = false;
    for (std::string_view annotation : annotations) {
      const std::string* value = meta.annotations.Get(annotation);
      is_default = is_default || (value != nullptr && *value == "true");
    }
    // They come by name.
    if (is_default && (!best || best->creationTimestamp < meta.creationTimestamp)) best = meta;
    return true;
  }));
  return best ? std::optional<std::string>(best->name) : std::nullopt;
}

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

class DefaultIngressClass final : public AdmissionPlugin {
 public:
  explicit DefaultIngressClass(const Registry& registry)
      : classes_(registry.Hub(IngressClass::kKind).store()) {}

  std::string_view name() const override { return "DefaultIngressClass"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    if (request.operation != Operation::kCreate || !request.subresource.empty()) return {};
    auto* ingress = object.As<Ingress>();
    // The annotation is how controllers were chosen before there were classes.
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

// A claim grows only where its class says that its volumes can.
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

std::unique_ptr<const AdmissionPlugin> NewDefaultStorageClass(const AdmissionParts& parts) {
  return std::make_unique<DefaultStorageClass>(parts.registry);
}

std::unique_ptr<const AdmissionPlugin> NewDefaultIngressClass(const AdmissionParts& parts) {
  return std::make_unique<DefaultIngressClass>(parts.registry);
}

std::unique_ptr<const AdmissionPlugin> NewPersistentVolumeClaimResize(const AdmissionParts& parts) {
  return std::make_unique<PersistentVolumeClaimResize>(parts.registry);
}

}  // namespace cox::apiserver

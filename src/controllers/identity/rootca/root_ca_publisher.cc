// SPDX-License-Identifier: Apache-2.0
#include "controllers/identity/rootca/root_ca_publisher.h"

#include "api/core/v1.h"
#include "controllers/shared/namespaces.h"

namespace cox::controllers {
namespace {

using core::v1::ConfigMap;
using core::v1::Namespace;

constexpr std::string_view kName = "kube-root-ca.crt";
constexpr std::string_view kKey = "ca.crt";
constexpr std::string_view kDescription = "kubernetes.io/description";
// Identical to upstream's text, because tools compare it.
constexpr std::string_view kDescriptionText =
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters.";

class RootCaReconciler final : public Reconciler {
 public:
  // `maps` contains only ConfigMaps named kube-root-ca.crt.
  RootCaReconciler(Manager& manager, Cache& maps, std::string root_ca_pem)
      : pem_(std::move(root_ca_pem)),
        client_(maps.WritingThrough(manager.client())),
        namespaces_(manager.cache().ListerOf<Namespace>()),
        maps_(maps.ListerOf<ConfigMap>()),
        syncs_(manager.metrics().AddCounterVec(
            {"root_ca_cert_publisher_sync_total",
             "Number of namespace syncs happened in root ca cert publisher."},
            {"code"})) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const Status status = Publish(ctx, key);
    syncs_.With({std::to_string(status.code())}).Inc();
    if (!status.ok()) return status;
    return ReconcileResult::Done();
  }

 private:
  Status Publish(Context& ctx, const ObjectKey& key) {
    const auto ns = namespaces_.Get(key);
    if (ns == nullptr || IsTerminating(*ns)) return {};
    const auto present = maps_.Get({key.name, std::string(kName)});
    if (present != nullptr && Publishes(*present)) return {};
    ConfigMap map = present != nullptr ? *present : ConfigMap();
    map.metadata.name = kName;
    map.metadata.namespace_ = key.name;
    map.metadata.annotations[kDescription] = kDescriptionText;
    map.data = {{std::string(kKey), pem_}};
    if (present == nullptr) {
      return IgnoreNamespaceTerminating(client_->Create(ctx, std::move(map)).status());
    }
    const Status updated = client_->Update(ctx, std::move(map)).status();
    // Deleted meanwhile: the delete event requeues the namespace.
    return updated.Is(Reason::kNotFound) ? Status() : updated;
  }

  // Any non-empty description is accepted, so that a customized one is kept.
  bool Publishes(const ConfigMap& map) const {
    const std::string* pem = map.data.Get(kKey);
    const std::string* text = map.metadata.annotations.Get(kDescription);
    return map.data.size() == 1 && pem != nullptr && *pem == pem_ && text != nullptr &&
           !text->empty();
  }

  const std::string pem_;
  const std::unique_ptr<Client> client_;
  const Lister<Namespace> namespaces_;
  const Lister<ConfigMap> maps_;
  CounterVec& syncs_;
};

}  // namespace

Status AddRootCaPublisher(Manager& manager, const RootCaOptions& options) {
  if (options.root_ca_pem.empty()) return {};
  // A separate cache with a field selector, because only one ConfigMap per namespace is needed.
  CacheOptions cache;
  cache.defaults.fields = fields::Selector::OneTermEqual("metadata.name", kName);
  COX_ASSIGN_OR_RETURN(
      Cache * maps,
      manager.AddCluster(std::string(kName),
                         std::shared_ptr<Client>(std::shared_ptr<void>(), &manager.client()),
                         std::move(cache)));
  return ControllerFor<Namespace>(manager)
      .Named("root-ca-certificate-publisher-controller")
      .WatchesInformer(maps->Get(Resource::Of<ConfigMap>()),
                       [](const Object& map) {
                         return std::vector<ObjectKey>{{"", HeadOf(map).key.ns}};
                       })
      .Complete(std::make_unique<RootCaReconciler>(manager, *maps, options.root_ca_pem));
}

}  // namespace cox::controllers

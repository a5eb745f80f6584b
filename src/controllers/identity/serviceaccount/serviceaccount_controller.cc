// SPDX-License-Identifier: Apache-2.0
#include "controllers/identity/serviceaccount/serviceaccount_controller.h"

#include "api/core/v1.h"
#include "controllers/shared/namespaces.h"

namespace cox::controllers {
namespace {

using core::v1::Namespace;
using core::v1::ServiceAccount;

constexpr std::string_view kDefault = "default";

class ServiceAccountReconciler final : public Reconciler {
 public:
  explicit ServiceAccountReconciler(Manager& manager)
      : client_(manager.client()),
        namespaces_(manager.cache().ListerOf<Namespace>()),
        accounts_(manager.cache().ListerOf<ServiceAccount>()) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const auto ns = namespaces_.Get(key);
    if (ns == nullptr || IsTerminating(*ns)) return ReconcileResult::Done();
    if (accounts_.Get({key.name, std::string(kDefault)}) != nullptr) return ReconcileResult::Done();
    ServiceAccount account;
    account.metadata = {.name = std::string(kDefault), .namespace_ = key.name};
    COX_RETURN_IF_ERROR(
        IgnoreNamespaceTerminating(client_.Create(ctx, std::move(account)).status()));
    return ReconcileResult::Done();
  }

 private:
  Client& client_;
  const Lister<Namespace> namespaces_;
  const Lister<ServiceAccount> accounts_;
};

}  // namespace

Status AddServiceAccountController(Manager& manager, const ServiceAccountOptions& options) {
  return ControllerFor<Namespace>(manager)
      .Named("serviceaccount-controller")
      .Watches<ServiceAccount>(
          [](const ServiceAccount& account) {
            return std::vector<ObjectKey>{{"", account.metadata.namespace_}};
          },
          [](const Delta& delta) {
            return delta.type == Delta::Type::kDeleted &&
                   HeadOf(*delta.before).key.name == kDefault;
          })
      .With({.max_concurrent_reconciles = options.concurrent_syncs})
      .Complete(std::make_unique<ServiceAccountReconciler>(manager));
}

}  // namespace cox::controllers

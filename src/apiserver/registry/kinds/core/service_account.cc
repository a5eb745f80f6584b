// SPDX-License-Identifier: Apache-2.0
#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"

namespace cox::apiserver {
namespace {

using core::v1::ServiceAccount;

constexpr std::string_view kEnforceMountableSecrets = "kubernetes.io/enforce-mountable-secrets";

// Secrets are in the same namespace: only the name of a reference is used.
void CleanSecretReferences(ServiceAccount& account) {
  for (core::v1::ObjectReference& secret : account.secrets) {
    secret = {.name = std::move(secret.name)};
  }
}

const std::string* EnforcesMountableSecrets(const ServiceAccount& account) {
  return account.metadata.annotations.Get(kEnforceMountableSecrets);
}

class ServiceAccountStrategy final : public StrategyOf<ServiceAccount> {
 public:
  std::string_view storage_prefix() const override { return "serviceaccounts"; }
  bool ReturnsDeletedObject() const override { return true; }

 protected:
  void PrepareCreate(const WriteContext&, ServiceAccount& account) const override {
    CleanSecretReferences(account);
  }
  void PrepareUpdate(const WriteContext&, ServiceAccount& account,
                     const ServiceAccount&) const override {
    CleanSecretReferences(account);
  }
  Warnings Warn(const WriteContext&, const ServiceAccount& account,
                const ServiceAccount* old) const override {
    const std::string* value = EnforcesMountableSecrets(account);
    if (value == nullptr) return {};
    const std::string* before = old == nullptr ? nullptr : EnforcesMountableSecrets(*old);
    if (before != nullptr && *before == *value) return {};
    return {"metadata.annotations[" + std::string(kEnforceMountableSecrets) +
            "]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted "
            "secrets"};
  }
};

}  // namespace

StrategyPtr NewServiceAccountStrategy() { return std::make_unique<ServiceAccountStrategy>(); }

}  // namespace cox::apiserver

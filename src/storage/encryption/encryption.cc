// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/encryption.h"

#include <algorithm>
#include <utility>

#include "storage/encryption/encrypted_store.h"
#include "storage/encryption/kms/provider.h"
#include "storage/encryption/transform/cipher.h"

namespace cox::storage {
namespace {

// "secrets", "deployments.apps": the format in rules and metrics.
std::string NameOf(std::string_view group, std::string_view resource) {
  std::string name(resource);
  if (!group.empty()) name.append(".").append(group);
  return name;
}

bool Names(std::string_view pattern, std::string_view group, std::string_view resource) {
  if (pattern == "*.*") return true;
  if (pattern.starts_with("*.")) return pattern.substr(2) == group;
  return pattern == NameOf(group, resource);
}

}  // namespace

// The providers of a configuration, by rule.
class Encryption::Providers {
 public:
  struct Rule {
    std::vector<std::string> resources;
    std::vector<PrefixedTransformer> transformers;
  };
  struct Kms {
    std::string name;
    std::shared_ptr<kms::Provider> provider;
  };

  ~Providers() {
    // Requests in progress may use the providers longer; only the status checks stop.
    for (const Kms& each : kms_) each.provider->Stop();
  }

  static Result<std::shared_ptr<Providers>> Create(const Context& ctx,
                                                   const EncryptionOptions& options,
                                                   EncryptionMetrics* metrics,
                                                   const std::function<void()>& recovered) {
    auto made = std::make_shared<Providers>();
    for (const EncryptionRule& rule : options.rules) {
      if (rule.providers.empty()) return Status::BadRequest("a rule names no providers");
      Rule next{rule.resources, {}};
      for (const EncryptionProvider& provider : rule.providers) {
        COX_ASSIGN_OR_RETURN(PrefixedTransformer transformer,
                             made->Make(ctx, provider, metrics, recovered));
        next.transformers.push_back(std::move(transformer));
      }
      made->rules_.push_back(std::move(next));
    }
    return made;
  }

  // Null if no rule matches the resource.
  const Rule* Find(std::string_view group, std::string_view resource) const {
    for (const Rule& rule : rules_) {
      if (std::any_of(rule.resources.begin(), rule.resources.end(),
                      [&](const std::string& each) { return Names(each, group, resource); })) {
        return &rule;
      }
    }
    return nullptr;
  }

  const std::vector<Kms>& kms() const { return kms_; }
  Status Health() const {
    for (const Kms& each : kms_) {
      if (const Status health = each.provider->Health(); !health.ok()) {
        return health.WithContext("kms provider " + each.name);
      }
    }
    return {};
  }

 private:
  Result<PrefixedTransformer> Make(const Context& ctx, const EncryptionProvider& provider,
                                   EncryptionMetrics* metrics,
                                   const std::function<void()>& recovered) {
    using Kind = EncryptionProvider::Kind;
    if (provider.kind == Kind::kIdentity) return NewIdentityProvider();
    if (provider.kind == Kind::kKms) {
      const std::string& name = provider.kms.name;
      COX_ASSIGN_OR_RETURN(std::unique_ptr<kms::Service> service,
                           kms::Connect(ctx, provider.kms, metrics));
      auto made =
          std::make_shared<kms::Provider>(ctx, name, std::move(service), metrics, recovered);
      kms_.push_back({name, made});
      return PrefixedTransformer{"k8s:enc:kms:v2:" + name + ":", std::move(made)};
    }
    if (provider.keys.empty()) return Status::BadRequest("a provider has no keys");
    for (const EncryptionKey& key : provider.keys) {
      const bool fits = provider.kind == Kind::kSecretbox ? key.secret.size() == kSecretboxKeySize
                                                          : IsAesKeySize(key.secret.size());
      if (!fits) return Status::BadRequest("a key has the wrong size");
    }
    if (provider.kind == Kind::kAesCbc) return NewAesCbcProvider(provider.keys);
    if (provider.kind == Kind::kAesGcm) return NewAesGcmProvider(provider.keys);
    return NewSecretboxProvider(provider.keys);
  }

  std::vector<Rule> rules_;
  std::vector<Kms> kms_;
};

struct Encryption::Wrapped {
  Store* under;
  std::string group;
  std::string resource;
  std::shared_ptr<TransformerSlot> slot;
  std::unique_ptr<Store> store;
};

Encryption::Encryption(Private, const Context& ctx, bool reloads, MetricsRegistry& metrics)
    : ctx_(ctx), reloads_(reloads), metrics_(metrics, RandomUuid()) {}

Encryption::~Encryption() {
  // Stop the providers before the stores, which their threads may access, and without holding mu_,
  // which these threads take.
  std::shared_ptr<Providers> last;
  MutexLock lock(mu_);
  std::swap(last, providers_);
}

Result<std::unique_ptr<Encryption>> Encryption::Create(const Context& ctx,
                                                       const EncryptionOptions& options,
                                                       bool reloads, MetricsRegistry& metrics) {
  auto encryption = std::make_unique<Encryption>(Private{}, ctx, reloads, metrics);
  COX_ASSIGN_OR_RETURN(std::shared_ptr<Providers> providers,
                       Providers::Create(ctx, options, &encryption->metrics_,
                                         [raw = encryption.get()] { raw->RetryAll(); }));
  MutexLock lock(encryption->mu_);
  encryption->providers_ = std::move(providers);
  return encryption;
}

std::shared_ptr<Encryption::Providers> Encryption::providers() const {
  MutexLock lock(mu_);
  return providers_;
}

TransformerPtr Encryption::TransformerFor(const Providers& providers, std::string_view group,
                                          std::string_view resource) {
  const Providers::Rule* rule = providers.Find(group, resource);
  if (rule == nullptr) return nullptr;
  return NewPrefixChain(rule->transformers, "no matching prefix found",
                        std::make_shared<TransformationMetrics>(metrics_, NameOf(group, resource)));
}

Store& Encryption::StoreOf(Store& under, std::string_view group, std::string_view resource) {
  MutexLock lock(mu_);
  for (const std::unique_ptr<Wrapped>& each : stores_) {
    if (each->under == &under && each->group == group && each->resource == resource) {
      return *each->store;
    }
  }
  TransformerPtr transformer = TransformerFor(*providers_, group, resource);
  if (transformer == nullptr && !reloads_) return under;
  auto wrapped = std::make_unique<Wrapped>();
  wrapped->under = &under;
  wrapped->group = group;
  wrapped->resource = resource;
  wrapped->slot = std::make_shared<TransformerSlot>(ctx_, std::move(transformer));
  wrapped->store = NewEncryptedStore(under, wrapped->slot);
  stores_.push_back(std::move(wrapped));
  return *stores_.back()->store;
}

Status Encryption::Reload(const EncryptionOptions& options) {
  Result<std::shared_ptr<Providers>> next =
      Providers::Create(ctx_, options, &metrics_, [this] { RetryAll(); });
  Status status = next.ok() ? (*next)->Health() : next.status();
  metrics_.Reload(status.ok(), ctx_.clock().Now());
  if (!status.ok()) return status;
  std::shared_ptr<Providers> old;  // its threads end after unlocking
  std::vector<std::pair<std::shared_ptr<TransformerSlot>, TransformerPtr>> changes;
  {
    MutexLock lock(mu_);
    old = std::exchange(providers_, *next);
    for (const std::unique_ptr<Wrapped>& each : stores_) {
      changes.emplace_back(each->slot, TransformerFor(**next, each->group, each->resource));
    }
  }
  for (auto& [slot, transformer] : changes) slot->Replace(std::move(transformer));
  return {};
}

void Encryption::RetryAll() {
  std::vector<std::shared_ptr<TransformerSlot>> slots;
  {
    MutexLock lock(mu_);
    for (const std::unique_ptr<Wrapped>& each : stores_) slots.push_back(each->slot);
  }
  for (const auto& slot : slots) slot->Retry();
}

std::vector<Encryption::Check> Encryption::Checks() {
  if (reloads_) return {{"kms-providers", [this] { return providers()->Health(); }}};
  std::vector<Check> checks;
  for (const Providers::Kms& each : providers()->kms()) {
    checks.push_back({"kms-provider-" + std::to_string(checks.size()),
                      [provider = each.provider] { return provider->Health(); }});
  }
  return checks;
}

}  // namespace cox::storage

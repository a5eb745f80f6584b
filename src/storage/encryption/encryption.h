// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "storage/encryption/kms/service.h"
#include "storage/encryption/transform/transformer.h"
#include "storage/encryption/transformer_slot.h"
#include "storage/store.h"

namespace cox::storage {

// One provider of an EncryptionConfiguration.
struct EncryptionProvider {
  enum class Kind : uint8_t { kIdentity, kAesCbc, kAesGcm, kSecretbox, kKms };
  Kind kind = Kind::kIdentity;
  std::vector<EncryptionKey> keys;  // for the AES kinds and secretbox
  kms::ServiceOptions kms;          // for kKms
};

// The providers of some resources: values are written with the first provider, read with any.
struct EncryptionRule {
  // "secrets", "deployments.apps", "*." for the core group, "*.apps", "*.*".
  std::vector<std::string> resources;
  std::vector<EncryptionProvider> providers;  // at least one
};

struct EncryptionOptions {
  std::vector<EncryptionRule> rules;  // the first rule that matches a resource applies
};

// Encryption at rest: creates encrypting stores, and changes their configuration at run time.
//
// Threads: all methods may be called concurrently.
// Ownership: owns the stores it returns. Outlives all users of these stores.
class Encryption {
  struct Private {};

 public:
  // `reloads`: Reload may be called later, so resources that are not encrypted now may be then.
  // Errors: BadRequest for invalid options.
  static Result<std::unique_ptr<Encryption>> Create(const Context& ctx,
                                                    const EncryptionOptions& options, bool reloads,
                                                    MetricsRegistry& metrics);
  Encryption(Private, const Context& ctx, bool reloads, MetricsRegistry& metrics);
  ~Encryption();

  // The store of a resource: `under`, or an encrypting store over it. Repeated calls return the
  // same store. `under` outlives this.
  Store& StoreOf(Store& under, std::string_view group, std::string_view resource);

  // Applies the new options if they are valid and all KMS plugins in them are healthy; otherwise
  // returns the error and changes nothing.
  Status Reload(const EncryptionOptions& options);

  // Health checks, with upstream's names: one per KMS, or a single one if reloads are enabled.
  struct Check {
    std::string name;
    std::function<Status()> check;
  };
  std::vector<Check> Checks();

 private:
  class Providers;
  struct Wrapped;

  std::shared_ptr<Providers> providers() const;
  TransformerPtr TransformerFor(const Providers& providers, std::string_view group,
                                std::string_view resource);
  void RetryAll();

  const Context ctx_;
  const bool reloads_;
  EncryptionMetrics metrics_;

  mutable Mutex mu_;
  std::shared_ptr<Providers> providers_ COX_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<Wrapped>> stores_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::storage

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

// One way to encrypt.
struct EncryptionProvider {
  enum class Kind : uint8_t { kIdentity, kAesCbc, kAesGcm, kSecretbox, kKms };
  Kind kind = Kind::kIdentity;
  std::vector<EncryptionKey> keys;  // of the AES kinds and secretbox
  kms::ServiceOptions kms;          // of kKms
};

// Which resources are encrypted how: written by the first provider, read by any.
struct EncryptionRule {
  // "secrets", "deployments.apps", "*." for the core group, "*.apps", "*.*".
  std::vector<std::string> resources;
  std::vector<EncryptionProvider> providers;  // at least one
};

struct EncryptionOptions {
  std::vector<EncryptionRule> rules;  // the first that names a resource holds for it
};

// Encryption at rest: gives out stores that encrypt, and changes how while they are in use.
//
// Threads: all methods may be called concurrently.
// Ownership: owns the stores it gives out. Outlives everybody who uses them.
class Encryption {
  struct Private {};

 public:
  // `reloads`: Reload will be called, so that resources which are not encrypted may come to be.
  // BadRequest for options that make no sense.
  static Result<std::unique_ptr<Encryption>> Create(const Context& ctx,
                                                    const EncryptionOptions& options, bool reloads,
                                                    MetricsRegistry& metrics);
  Encryption(Private, const Context& ctx, bool reloads, MetricsRegistry& metrics);
  ~Encryption();

  // The store of a resource: `under`, or one over it. Asked again, the same one. `under` outlives
  // this.
  Store& StoreOf(Store& under, std::string_view group, std::string_view resource);

  // Takes the new options if they make sense and every KMS they name is well; else says why not,
  // and everything is as before.
  Status Reload(const EncryptionOptions& options);

  // Health checks, with upstream's names: one of each KMS, or one of all where it reloads.
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

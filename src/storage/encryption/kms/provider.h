// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/mutex.h"
#include "base/scope.h"
#include "storage/encryption/kms/service.h"
#include "storage/encryption/transform/transformer.h"

namespace cox::storage::kms {

// Intervals and timeouts of a provider, the same as upstream's. Tests change them.
struct ProviderTimes {
  using Span = std::chrono::milliseconds;
  Span healthy{60'000};            // between status checks of a healthy plugin
  Span unhealthy{10'000};          // between status checks of an unhealthy plugin
  Span between{1'000};             // minimum between status checks
  Span write_with{180'000};        // a seed is used for writes this long after a good check
  Span keep_decrypted{3'600'000};  // TTL of a decrypted seed in the cache
  Span keep_failure{1'000};        // TTL of a decryption failure in the cache
};

// Envelope encryption, KMS v2: a local seed encrypts values, and the KMS encrypts the seed.
//
// A seed is generated at the start and whenever the plugin reports another key ID. Each value is
// encrypted with a key derived from the seed, so the plugin is called once per seed instead of once
// per value. The encrypted value is stored with the encrypted seed. Values with another key ID than
// the current one are stale.
// While the plugin is unavailable, values with a cached seed can be read, and values can be written
// for three minutes. When it is available again, `recovered` is called, because values that were
// unreadable may be readable now.
//
// Threads: all methods may be called concurrently; a background thread checks the plugin's status.
class Provider final : public Transformer {
 public:
  // Checks the plugin's status once, and succeeds regardless of the result.
  Provider(const Context& ctx, std::string name, std::unique_ptr<Service> service,
           EncryptionMetrics* metrics, std::function<void()> recovered, ProviderTimes times = {});
  ~Provider() override { Stop(); }

  // Stops the status checks; `recovered` is not called after it returns. Reads and writes still
  // work with the cached seeds.
  void Stop();

  Status Seal(Context& ctx, std::string_view value, std::string_view key,
              std::string* out) override;
  Result<Plain> Open(Context& ctx, const Bytes& stored, std::string_view key) override;

  // The result of the last status check.
  Status Health() const;

 private:
  using SeedPtr = std::shared_ptr<const KeyBytes>;
  struct Writer {
    SeedPtr seed;
    WrappedKey wrapped;
    std::string id;  // ID of the wrapped key, see IdOf
    Clock::SteadyTime until;
  };
  struct Known {
    SeedPtr seed;    // null if `failure` is set
    Status failure;  // the error of the last decryption
    Clock::SteadyTime until;
  };

  static std::string IdOf(const WrappedKey& key, KeySource source);
  void Run(Context& ctx);
  void RequestCheck() COX_REQUIRES(mu_);
  void CheckStatus(const Context& ctx);
  Result<std::string> CurrentKeyId(const Context& ctx);
  Status Rotate(const Context& ctx, const std::string& key_id, Clock::SteadyTime began);
  Result<SeedPtr> SeedOf(const Context& ctx, const EncryptedObject& object);
  Result<SeedPtr> Decrypt(const Context& ctx, const EncryptedObject& object);
  void Remember(const std::string& id, Known known);
  std::shared_ptr<const Writer> writer() const;

  const std::string name_;
  const ProviderTimes times_;
  Clock& clock_;
  const std::unique_ptr<Service> service_;
  EncryptionMetrics* const metrics_;
  const std::function<void()> recovered_;

  mutable Mutex mu_;
  CondVar wakeup_;
  bool check_requested_ COX_GUARDED_BY(mu_) = false;          // a status check is requested
  std::shared_ptr<const Writer> writer_ COX_GUARDED_BY(mu_);  // null until the first seed
  Status health_ COX_GUARDED_BY(mu_) = Status::Unavailable("not asked yet");
  // When to call `recovered` for values that failed, if the plugin is healthy then.
  Clock::SteadyTime retry_ COX_GUARDED_BY(mu_) = Clock::kNever;
  std::map<std::string, Known, std::less<>> known_ COX_GUARDED_BY(mu_);

  Scope scope_;
};

}  // namespace cox::storage::kms

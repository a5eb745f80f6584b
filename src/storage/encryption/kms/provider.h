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

// How patient a provider is; as upstream's. Tests change it.
struct ProviderTimes {
  using Span = std::chrono::milliseconds;
  Span healthy{60'000};            // between looks at a plugin that is well
  Span unhealthy{10'000};          // and at one that is not
  Span between{1'000};             // at least, however often calls fail
  Span write_with{180'000};        // how long a seed serves after the last good look
  Span keep_decrypted{3'600'000};  // how long a decrypted key is remembered
  Span keep_failure{1'000};        // and that a plugin did not decrypt it
};

// Envelope encryption, KMS v2: a seed of our own encrypts values, a key outside encrypts the seed.
//
// A seed is made when it starts and whenever the plugin tells another key id; each value is
// encrypted with a key derived from the seed, so the plugin is asked once and not per value. What
// rests is the encrypted value beside the encrypted seed. Values of another key id than the current
// one are stale.
// A plugin that is gone: values whose seed is known can be read; they can be written for another
// three minutes. When it is back, `recovered` is called: what could not be read may be now.
//
// Threads: all methods may be called concurrently; a thread of its own looks at the plugin.
class Provider final : public Transformer {
 public:
  // Looks at the plugin once, and succeeds whatever it finds.
  Provider(const Context& ctx, std::string name, std::unique_ptr<Service> service,
           EncryptionMetrics* metrics, std::function<void()> recovered, ProviderTimes times = {});
  ~Provider() override { Stop(); }

  // Looks at the plugin no more, and has called `recovered` for the last time when it returns. What
  // it can do without looking it still does.
  void Stop();

  Status Seal(Context& ctx, std::string_view value, std::string_view key,
              std::string* out) override;
  Result<Plain> Open(Context& ctx, const Bytes& stored, std::string_view key) override;

  // How the last look at the plugin went.
  Status Health() const;

 private:
  using SeedPtr = std::shared_ptr<const KeyBytes>;
  struct Writer {
    SeedPtr seed;
    WrappedKey wrapped;
    std::string id;  // of the wrapped key, see IdOf
    Clock::SteadyTime until;
  };
  struct Known {
    SeedPtr seed;    // or
    Status failure;  // why there is none
    Clock::SteadyTime until;
  };

  static std::string IdOf(const WrappedKey& key, KeySource source);
  void Run(Context& ctx);
  void Ring() COX_REQUIRES(mu_);
  void Look(const Context& ctx);
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
  CondVar rang_;
  bool rung_ COX_GUARDED_BY(mu_) = false;                     // for a look at once
  std::shared_ptr<const Writer> writer_ COX_GUARDED_BY(mu_);  // null: none yet
  Status health_ COX_GUARDED_BY(mu_) = Status::Unavailable("not asked yet");
  // When values that failed are worth reading again, if the plugin is well then.
  Clock::SteadyTime retry_ COX_GUARDED_BY(mu_) = Clock::kNever;
  std::map<std::string, Known, std::less<>> known_ COX_GUARDED_BY(mu_);

  Scope scope_;
};

}  // namespace cox::storage::kms

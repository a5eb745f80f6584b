// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/kms/provider.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/strings.h"

namespace cox::storage::kms {
namespace {

// The HKDF info of the derived key, stored before each value.
constexpr size_t kInfoSize = 32;
// A server generates a seed when it starts, so there are only a few in normal operation.
constexpr size_t kMaxKnown = 1'000;

Result<std::string> OpenData(const KeyBytes& seed, const EncryptedObject& object,
                             std::string_view key) {
  if (object.source == KeySource::kAesGcmKey) return OpenGcm(seed, object.data, key);
  if (object.data.size() < kInfoSize) {
    return Status::Internal("the stored data was shorter than the required size");
  }
  const KeyBytes derived = HkdfExpand(seed, object.data.substr(0, kInfoSize));
  return OpenGcm(derived, object.data.substr(kInfoSize), key);
}

}  // namespace

Provider::Provider(const Context& ctx, std::string name, std::unique_ptr<Service> service,
                   EncryptionMetrics* metrics, std::function<void()> recovered, ProviderTimes times)
    : name_(std::move(name)),
      times_(times),
      clock_(ctx.clock()),
      service_(std::move(service)),
      metrics_(metrics),
      recovered_(std::move(recovered)),
      scope_(ctx, "kms " + name_) {
  CheckStatus(ctx);
  COX_CHECK_OK(scope_.Go("kms", [this](Context& work) { Run(work); }));
}

void Provider::Stop() {
  scope_.Stop();
  scope_.Wait();
}

void Provider::Run(Context& ctx) {
  while (!ctx.Done()) {
    {
      MutexLock lock(mu_);
      const auto pause = health_.ok() ? times_.healthy : times_.unhealthy;
      wakeup_.WaitUntil(mu_, clock_, clock_.In(pause), ctx.token(), [this] {
        mu_.AssertHeld();
        return check_requested_;
      });
      check_requested_ = false;
    }
    if (ctx.Done()) return;
    CheckStatus(ctx);
    bool retry = false;
    {
      MutexLock lock(mu_);
      retry = health_.ok() && clock_.Monotonic() >= retry_;
      if (retry) retry_ = Clock::kNever;
    }
    if (retry && recovered_) recovered_();
    // The minimum interval, however often RequestCheck() is called.
    if (!ctx.Sleep(times_.between).ok()) return;
  }
}

void Provider::RequestCheck() {
  check_requested_ = true;
  wakeup_.NotifyAll();
}

void Provider::CheckStatus(const Context& ctx) {
  const Clock::SteadyTime began = clock_.Monotonic();
  Result<std::string> key_id = CurrentKeyId(ctx);
  Status health = key_id.ok() ? Rotate(ctx, *key_id, began) : key_id.status();
  if (ctx.Done()) return;
  Status before;
  {
    MutexLock lock(mu_);
    before = std::exchange(health_, health);
    // Drop cached failures, because they were caused by the unhealthy plugin.
    if (health.ok() && !before.ok()) {
      std::erase_if(known_, [](const auto& each) { return each.second.seed == nullptr; });
    }
  }
  if (health.ok() && !before.ok()) {
    COX_INFO(ctx.log(), "KMS plugin is healthy", {"provider", name_});
  } else if (before.message() != health.message()) {
    COX_WARNING(ctx.log(), "KMS plugin is not healthy", {"provider", name_},
                {"err", health.message()});
  }
}

Result<std::string> Provider::CurrentKeyId(const Context& ctx) {
  COX_ASSIGN_OR_RETURN(PluginStatus status, service_->Status(ctx));
  if (status.version != "v2" && status.version != "v2beta1") {
    return Status::Internal("expected KMSv2 API version v2, got " + Quote(status.version));
  }
  if (status.healthz != "ok") {
    return Status::Internal("got unexpected healthz status: " + Quote(status.healthz));
  }
  if (const Status valid = CheckKeyId(status.key_id); !valid.ok()) {
    if (metrics_ != nullptr) {
      metrics_->KmsKeyInvalid(name_, status.key_id.empty() ? "empty" : "too_long");
    }
    return valid;
  }
  if (metrics_ != nullptr) metrics_->KmsKeySeen(name_, status.key_id, clock_.Now());
  return std::move(status.key_id);
}

// Ensures that the write seed belongs to the current key ID, and extends its time of use.
Status Provider::Rotate(const Context& ctx, const std::string& key_id, Clock::SteadyTime began) {
  const std::shared_ptr<const Writer> old = writer();
  Writer next;
  if (old != nullptr && old->wrapped.key_id == key_id) {
    next = *old;
  } else {
    next.seed = std::make_shared<const KeyBytes>(KeyBytes::Random(kSeedSize));
    Result<WrappedKey> wrapped = service_->Encrypt(ctx, *next.seed, RandomUuid());
    Status valid = wrapped.ok() ? CheckWrappedKey(*wrapped) : wrapped.status();
    // The plugin's key changed between the two calls, or the plugin reports a wrong key ID.
    if (valid.ok() && wrapped->key_id != key_id) {
      valid = Status::Internal("the KMS plugin encrypts with another key than it tells");
    }
    if (metrics_ != nullptr) metrics_->DataKey(clock_.Monotonic() - began, valid.ok());
    if (!valid.ok()) return valid.WithContext("failed to rotate DEK");
    next.wrapped = std::move(*wrapped);
    next.id = IdOf(next.wrapped, KeySource::kHkdfSeed);
    COX_V(ctx.log(), 2, "Generated encryption seed", {"provider", name_});
  }
  next.until = began + times_.write_with;
  auto published = std::make_shared<const Writer>(std::move(next));
  MutexLock lock(mu_);
  // Keep the old seed for values that were written with it.
  if (writer_ != nullptr && writer_->id != published->id) {
    known_[writer_->id] = {writer_->seed, {}, clock_.In(times_.keep_decrypted)};
  }
  writer_ = std::move(published);
  return {};
}

std::shared_ptr<const Provider::Writer> Provider::writer() const {
  MutexLock lock(mu_);
  return writer_;
}

Status Provider::Health() const {
  MutexLock lock(mu_);
  return health_;
}

std::string Provider::IdOf(const WrappedKey& key, KeySource source) {
  std::string all;
  const auto add = [&all](std::string_view part) {
    all.append(std::to_string(part.size())).append(":").append(part);
  };
  all += source == KeySource::kHkdfSeed ? 's' : 'k';
  add(key.ciphertext);
  add(key.key_id);
  for (const auto& [name, value] : key.annotations) {
    add(name);
    add(value);
  }
  return Sha256(all);
}

Status Provider::Seal(Context& ctx, std::string_view value, std::string_view key,
                      std::string* out) {
  const std::shared_ptr<const Writer> with = writer();
  if (with == nullptr) {
    return Status::Internal("no encryption key yet: " + Health().message());
  }
  if (clock_.Monotonic() >= with->until) {
    {
      MutexLock lock(mu_);
      RequestCheck();
    }
    return Status::Internal("encryptedDEKSource expired: " + Health().message());
  }
  std::string data = RandomBytes(kInfoSize);
  const KeyBytes derived = HkdfExpand(*with->seed, data);
  AppendGcm(derived, value, key, &data);
  AppendEncryptedObject({data, with->wrapped, KeySource::kHkdfSeed}, out);
  if (metrics_ != nullptr) {
    metrics_->KmsKeyUsed(name_, false, with->wrapped.key_id, ctx.clock().Now());
  }
  return {};
}

Result<Transformer::Plain> Provider::Open(Context& ctx, const Bytes& stored, std::string_view key) {
  COX_ASSIGN_OR_RETURN(const EncryptedObject object, ParseEncryptedObject(stored.view()));
  COX_ASSIGN_OR_RETURN(const SeedPtr seed, SeedOf(ctx, object));
  COX_ASSIGN_OR_RETURN(std::string plain, OpenData(*seed, object, key));
  if (metrics_ != nullptr) {
    metrics_->KmsKeyUsed(name_, true, object.key.key_id, ctx.clock().Now());
  }
  const std::shared_ptr<const Writer> now = writer();
  const bool stale = object.source != KeySource::kHkdfSeed ||
                     (now != nullptr && now->wrapped.key_id != object.key.key_id);
  return Plain{Bytes(std::move(plain)), stale};
}

Result<Provider::SeedPtr> Provider::SeedOf(const Context& ctx, const EncryptedObject& object) {
  const std::string id = IdOf(object.key, object.source);
  {
    MutexLock lock(mu_);
    if (writer_ != nullptr && writer_->id == id) return writer_->seed;
    const auto known = known_.find(id);
    if (known != known_.end() && clock_.Monotonic() < known->second.until) {
      if (known->second.seed == nullptr) return known->second.failure;
      return known->second.seed;
    }
  }
  Result<SeedPtr> seed = Decrypt(ctx, object);
  // The caller's deadline may be shorter than the plugin's timeout.
  if (!seed.ok() && ctx.Done()) return ctx.status();
  const auto keep = seed.ok() ? times_.keep_decrypted : times_.keep_failure;
  Remember(id, {seed.ok() ? *seed : nullptr, seed.status(), clock_.In(keep)});
  return seed;
}

Result<Provider::SeedPtr> Provider::Decrypt(const Context& ctx, const EncryptedObject& object) {
  if (metrics_ != nullptr) metrics_->KmsCacheMiss();
  Result<KeyBytes> key = service_->Decrypt(ctx, object.key, RandomUuid());
  if (!key.ok()) {
    const bool gone = key.status().Is(Reason::kServiceUnavailable);
    MutexLock lock(mu_);
    // If the plugin was unavailable, retry as soon as it responds; if it returned an error, later.
    retry_ = std::min(retry_, gone ? clock_.Monotonic() : clock_.In(times_.healthy));
    if (gone && health_.ok()) RequestCheck();
    return Status::Internal("failed to decrypt DEK, error: " + key.status().message());
  }
  const bool fits =
      object.source == KeySource::kHkdfSeed ? key->size() == kSeedSize : IsAesKeySize(key->size());
  if (!fits) {
    return Status::Internal("failed to decrypt DEK, error: invalid key length used for decryption");
  }
  return std::make_shared<const KeyBytes>(std::move(*key));
}

void Provider::Remember(const std::string& id, Known known) {
  MutexLock lock(mu_);
  known_[id] = std::move(known);
  if (known_.size() > kMaxKnown) {
    const Clock::SteadyTime now = clock_.Monotonic();
    std::erase_if(known_, [&](const auto& each) { return each.second.until <= now; });
  }
  // Still too many: evict the one that expires first.
  if (known_.size() > kMaxKnown) {
    known_.erase(std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) {
      return a.second.until < b.second.until;
    }));
  }
  if (metrics_ != nullptr) metrics_->KmsCacheSize(name_, known_.size());
}

}  // namespace cox::storage::kms

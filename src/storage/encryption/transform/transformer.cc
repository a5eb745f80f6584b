// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/transform/transformer.h"

#include <utility>

#include "base/strings.h"
#include "storage/unreadable.h"

namespace cox::storage {
namespace {

class Identity final : public Transformer {
 public:
  Status Seal(Context&, std::string_view value, std::string_view, std::string* out) override {
    out->append(value);
    return {};
  }
  Result<Plain> Open(Context&, const Bytes& stored, std::string_view) override {
    if (const auto why = WhyUnreadable(stored.view())) return Status::Internal(std::string(*why));
    return Plain{stored};
  }
};

// A cipher with its key.
class Sealer final : public Transformer {
 public:
  struct Cipher {
    void (*append)(const KeyBytes& key, std::string_view plain, std::string_view aad,
                   std::string* out);
    Result<std::string> (*open)(const KeyBytes& key, std::string_view sealed, std::string_view aad);
  };
  Sealer(const Cipher& cipher, KeyBytes key) : cipher_(cipher), key_(std::move(key)) {}

  Status Seal(Context&, std::string_view value, std::string_view key, std::string* out) override {
    cipher_.append(key_, value, key, out);
    return {};
  }
  Result<Plain> Open(Context&, const Bytes& stored, std::string_view key) override {
    COX_ASSIGN_OR_RETURN(std::string plain, cipher_.open(key_, stored.view(), key));
    return Plain{Bytes(std::move(plain))};
  }

 private:
  const Cipher cipher_;
  const KeyBytes key_;
};

// Only GCM binds a value to its storage key.
constexpr Sealer::Cipher kGcm = {AppendGcm, OpenGcm};
constexpr Sealer::Cipher kCbc = {[](const KeyBytes& key, std::string_view plain, std::string_view,
                                    std::string* out) { AppendCbc(key, plain, out); },
                                 [](const KeyBytes& key, std::string_view sealed,
                                    std::string_view) { return OpenCbc(key, sealed); }};
constexpr Sealer::Cipher kSecretbox = {
    [](const KeyBytes& key, std::string_view plain, std::string_view, std::string* out) {
      AppendSecretbox(key, plain, out);
    },
    [](const KeyBytes& key, std::string_view sealed, std::string_view) {
      return OpenSecretbox(key, sealed);
    }};

class PrefixChain final : public Transformer {
 public:
  PrefixChain(std::vector<PrefixedTransformer> transformers, std::string no_match,
              std::shared_ptr<TransformationMetrics> metrics)
      : transformers_(std::move(transformers)),
        no_match_(std::move(no_match)),
        metrics_(std::move(metrics)) {}

  Status Seal(Context& ctx, std::string_view value, std::string_view key,
              std::string* out) override {
    const Clock::SteadyTime began = ctx.clock().Monotonic();
    const PrefixedTransformer& first = transformers_.front();
    out->append(first.prefix);
    Status status = first.transformer->Seal(ctx, value, key, out);
    Record(ctx, false, &first, began, status);
    return status;
  }

  Result<Plain> Open(Context& ctx, const Bytes& stored, std::string_view key) override {
    const Clock::SteadyTime began = ctx.clock().Monotonic();
    std::vector<std::string> failures;
    for (const PrefixedTransformer& each : transformers_) {
      if (!stored.view().starts_with(each.prefix)) continue;
      Result<Plain> plain = each.transformer->Open(ctx, stored.Slice(each.prefix.size()), key);
      // The empty prefix matches everything, so its error for encrypted values is not reported.
      if (!plain.ok() && each.prefix.empty()) continue;
      Record(ctx, true, &each, began, plain.status());
      if (plain.ok()) {
        plain->stale = plain->stale || &each != &transformers_.front();
        return plain;
      }
      failures.push_back(plain.status().message());
    }
    if (failures.size() == 1) return Status::Internal(std::move(failures.front()));
    if (!failures.empty()) return Status::Internal("[" + Join(failures, ", ") + "]");
    Status unknown = Status::Internal(no_match_);
    Record(ctx, true, nullptr, began, unknown);
    return unknown;
  }

 private:
  void Record(const Context& ctx, bool from_storage, const PrefixedTransformer* by,
              Clock::SteadyTime began, const Status& status) const {
    if (metrics_ == nullptr) return;
    const std::string_view prefix = by == nullptr        ? "unknown"
                                    : by->prefix.empty() ? "identity"
                                                         : std::string_view(by->prefix);
    metrics_->Record(from_storage, prefix, ctx.clock().Monotonic() - began, status);
  }

  const std::vector<PrefixedTransformer> transformers_;
  const std::string no_match_;
  const std::shared_ptr<TransformationMetrics> metrics_;
};

PrefixedTransformer KeyedProvider(const Sealer::Cipher& cipher, std::string prefix,
                                  std::string no_match, std::vector<EncryptionKey> keys) {
  std::vector<PrefixedTransformer> by_key;
  for (EncryptionKey& key : keys) {
    by_key.push_back({key.name + ":", std::make_shared<Sealer>(cipher, std::move(key.secret))});
  }
  return {std::move(prefix), NewPrefixChain(std::move(by_key), std::move(no_match))};
}

}  // namespace

TransformerPtr NewPrefixChain(std::vector<PrefixedTransformer> transformers, std::string no_match,
                              std::shared_ptr<TransformationMetrics> metrics) {
  return std::make_shared<PrefixChain>(std::move(transformers), std::move(no_match),
                                       std::move(metrics));
}

PrefixedTransformer NewAesGcmProvider(std::vector<EncryptionKey> keys) {
  return KeyedProvider(
      kGcm, "k8s:enc:aesgcm:v1:", "no matching key was found for the provided AES transformer",
      std::move(keys));
}

PrefixedTransformer NewAesCbcProvider(std::vector<EncryptionKey> keys) {
  return KeyedProvider(
      kCbc, "k8s:enc:aescbc:v1:", "no matching key was found for the provided AES transformer",
      std::move(keys));
}

PrefixedTransformer NewSecretboxProvider(std::vector<EncryptionKey> keys) {
  return KeyedProvider(kSecretbox, "k8s:enc:secretbox:v1:",
                       "no matching key was found for the provided Secretbox transformer",
                       std::move(keys));
}

PrefixedTransformer NewIdentityProvider() { return {"", std::make_shared<Identity>()}; }

}  // namespace cox::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/kms/provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/testing/test_clock.h"
#include "storage/testing/hex.h"

namespace cox::storage::kms {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

// The state of the fake plugin. It wraps a key by reversing its bytes.
struct Plugin {
  Mutex mu;
  bool gone COX_GUARDED_BY(mu) = false;
  std::string refuses COX_GUARDED_BY(mu);  // the error of Decrypt
  std::string key_id COX_GUARDED_BY(mu) = "key-1";
  std::string healthz COX_GUARDED_BY(mu) = "ok";
  std::string version COX_GUARDED_BY(mu) = "v2";
  int encrypts COX_GUARDED_BY(mu) = 0;
  int decrypts COX_GUARDED_BY(mu) = 0;
};

class FakeService final : public Service {
 public:
  explicit FakeService(Plugin& plugin) : plugin_(plugin) {}
  Result<PluginStatus> Status(const Context&) override {
    MutexLock lock(plugin_.mu);
    if (plugin_.gone) return Gone();
    return PluginStatus{plugin_.version, plugin_.healthz, plugin_.key_id};
  }
  Result<WrappedKey> Encrypt(const Context&, const KeyBytes& key, std::string_view) override {
    MutexLock lock(plugin_.mu);
    if (plugin_.gone) return Gone();
    ++plugin_.encrypts;
    return WrappedKey{Turned(key.view()), plugin_.key_id, {{"a.example.com", "1"}}};
  }
  Result<KeyBytes> Decrypt(const Context&, const WrappedKey& key, std::string_view) override {
    MutexLock lock(plugin_.mu);
    if (plugin_.gone) return Gone();
    ++plugin_.decrypts;
    if (!plugin_.refuses.empty()) return cox::Status::Internal(plugin_.refuses);
    if (key.ciphertext == "wrapped seed") return CountingKey(200, 32);
    return KeyBytes(Turned(key.ciphertext));
  }

 private:
  static cox::Status Gone() {
    return cox::Status::Unavailable("rpc error: code = Unavailable desc = nobody there");
  }
  static std::string Turned(std::string_view bytes) { return {bytes.rbegin(), bytes.rend()}; }
  Plugin& plugin_;
};

class ProviderTest : public testing::Test {
 protected:
  std::unique_ptr<Provider> Start() {
    return std::make_unique<Provider>(ctx_, "test", std::make_unique<FakeService>(plugin_), nullptr,
                                      [this] { ++recovered_; });
  }
  // Advances the clock in steps, so that the provider makes all of its status checks.
  void Pass(seconds time, size_t providers = 1) {
    for (seconds left = time; left.count() > 0; left -= seconds(1)) {
      clock_.WaitForWaiters(providers);
      clock_.Advance(seconds(1));
    }
    clock_.WaitForWaiters(providers);
  }
  template <class Change>
  void OnPlugin(Change change) {
    MutexLock lock(plugin_.mu);
    change(plugin_);
  }
  int decrypts() {
    MutexLock lock(plugin_.mu);
    return plugin_.decrypts;
  }
  std::string Seal(Provider& provider) {
    std::string out;
    const cox::Status status = provider.Seal(ctx_, kObject, kStoreKey, &out);
    return status.ok() ? out : "error: " + status.message();
  }
  // Returns "fresh", "stale", or the error.
  std::string Open(Provider& provider, const std::string& stored,
                   std::string_view key = kStoreKey) {
    Result<Transformer::Plain> plain = provider.Open(ctx_, Bytes(stored), key);
    if (!plain.ok()) return plain.status().message();
    EXPECT_EQ(plain->value.view(), kObject);
    return plain->stale ? "stale" : "fresh";
  }

  TestClock clock_;
  Context ctx_{clock_};
  Plugin plugin_;
  std::atomic<int> recovered_ = 0;
};

TEST_F(ProviderTest, DecryptsValuesOfAnotherImplementation) {
  const std::unique_ptr<Provider> provider = Start();
  EXPECT_EQ(
      Open(
          *provider,
          FromHex(
              "0a5e32333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f50516465666768696a6b"
              "6c6d6e6f15060d3930ad811a064fb74f879681a5e8029e7d2c7a4206d16b94092faa73b6d8e6708d71f5"
              "6c8d35b7d67836aa1a010e3e12056b65792d371a0c77726170706564207365656422210a1c7665727369"
              "6f6e2e656e6372797074696f6e2e72656d6f74652e696f1201312801")),
      "stale");
  // From before seeds: the unwrapped key encrypts the value.
  EXPECT_EQ(
      Open(*provider,
           FromHex("0a3e6465666768696a6b6c6d6e6f33f6d2265c779cb4fce13aa074db99a203c5e7b3803a38ebe4"
                   "fb4c41000fd895f1cf5f27d96b39368da48aa5dbc66a7f011c12056b65792d371a0c7772617070"
                   "65642073656564")),
      "stale");
}

TEST_F(ProviderTest, DecryptsValuesOfKubernetes) {
  const std::unique_ptr<Provider> provider = Start();
  EXPECT_EQ(
      Open(
          *provider,
          FromHex("0a5ecf39693599ed80a79bf743839fa0e2a2dce9ca1ab1c808fc9acae8e5a64e5c9217666a5e9ecc"
                  "b05338225c472c6251c159a5d68bf561671c94bc389102736fc0376858f70f004b4a8f00a8d5d203"
                  "9a135f07771dddcaddbc8d860ae9164712056b65792d371a0c77726170706564207365656422210a"
                  "1c76657273696f6e2e656e6372797074696f6e2e72656d6f74652e696f1201312801")),
      "stale");
}

TEST_F(ProviderTest, CallsThePluginOnceForManyValues) {
  const std::unique_ptr<Provider> provider = Start();
  const std::string one = Seal(*provider);
  EXPECT_EQ(one.find("Secret"), one.npos);
  EXPECT_NE(one, Seal(*provider));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Open(*provider, Seal(*provider)), "fresh");
  OnPlugin([](Plugin& plugin) {
    plugin.mu.AssertHeld();
    EXPECT_EQ(plugin.encrypts, 1);
    EXPECT_EQ(plugin.decrypts, 0);
  });
  const std::unique_ptr<Provider> other = Start();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Open(*other, one), "fresh");
  EXPECT_EQ(decrypts(), 1);
}

TEST_F(ProviderTest, RejectsManipulatedValuesAndOtherStorageKeys) {
  const std::unique_ptr<Provider> provider = Start();
  const std::string stored = Seal(*provider);
  EXPECT_EQ(Open(*provider, stored, "/registry/secrets/default/other"),
            "cipher: message authentication failed");
  for (size_t i = 0; i < stored.size(); ++i) {
    std::string bad = stored;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    // Changes of annotations and key IDs that the plugin does not check are accepted. No change of
    // the value is accepted, which Open() checks.
    Result<Transformer::Plain> plain = provider->Open(ctx_, Bytes(bad), kStoreKey);
    if (plain.ok()) {
      EXPECT_EQ(plain->value.view(), kObject) << i;
    }
  }
}

TEST_F(ProviderTest, NewKeyIdRotatesTheSeedAndMakesOldValuesStale) {
  const std::unique_ptr<Provider> provider = Start();
  const std::string old = Seal(*provider);
  OnPlugin([](Plugin& plugin) {
    plugin.mu.AssertHeld();
    plugin.key_id = "key-2";
  });
  Pass(seconds(62));
  EXPECT_EQ(Open(*provider, old), "stale");
  EXPECT_EQ(decrypts(), 0);  // its own old seed is still cached
  EXPECT_EQ(Open(*provider, Seal(*provider)), "fresh");
  OnPlugin([](Plugin& plugin) {
    plugin.mu.AssertHeld();
    EXPECT_EQ(plugin.encrypts, 2);
  });
}

TEST_F(ProviderTest, WithoutPluginReadsCachedSeedsAndWritesForThreeMinutes) {
  const std::unique_ptr<Provider> provider = Start();
  const std::unique_ptr<Provider> other = Start();
  const std::string known = Seal(*provider);
  OnPlugin([](Plugin& plugin) {
    plugin.mu.AssertHeld();
    plugin.gone = true;
  });
  Pass(seconds(62), 2);
  EXPECT_THAT(provider->Health().message(), HasSubstr("code = Unavailable"));
  EXPECT_EQ(Open(*provider, known), "fresh");
  EXPECT_EQ(Open(*provider, Seal(*provider)), "fresh");
  EXPECT_EQ(Open(*other, known),
            "failed to decrypt DEK, error: rpc error: code = Unavailable desc = nobody there");
  Pass(seconds(125), 2);
  EXPECT_EQ(Open(*provider, known), "fresh");
  EXPECT_THAT(Seal(*provider), HasSubstr("encryptedDEKSource expired"));
  OnPlugin([](Plugin& plugin) {
    plugin.mu.AssertHeld();
    plugin.gone = false;
  });
  Pass(seconds(12), 2);
  EXPECT_TRUE(provider->Health().ok());
  EXPECT_EQ(Open(*provider, Seal(*provider)), "fresh");
  EXPECT_EQ(Open(*other, known), "fresh");
  EXPECT_EQ(recovered_, 1);  // called by `other`, which had failed to read
}

TEST_F(ProviderTest, StartsWithoutThePluginAndRecoversLater) {
  const std::string stored = Seal(*Start());
  OnPlugin([](Plugin& plugin) {
    plugin.mu.AssertHeld();
    plugin.gone = true;
  });
  const std::unique_ptr<Provider> provider = Start();
  EXPECT_THAT(Seal(*provider), HasSubstr("no encryption key yet"));
  EXPECT_THAT(Open(*provider, stored), HasSubstr("failed to decrypt DEK"));
  OnPlugin([](Plugin& plugin) {
    plugin.mu.AssertHeld();
    plugin.gone = false;
  });
  Pass(seconds(12));
  EXPECT_EQ(Open(*provider, stored), "fresh");
  EXPECT_EQ(recovered_, 1);
}

TEST_F(ProviderTest, DecryptionFailureIsCached) {
  const std::string stored = Seal(*Start());
  const std::unique_ptr<Provider> provider = Start();
  OnPlugin([](Plugin& plugin) {
    plugin.mu.AssertHeld();
    plugin.refuses = "rpc error: code = NotFound desc = no key";
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(Open(*provider, stored),
              "failed to decrypt DEK, error: rpc error: code = NotFound desc = no key");
  }
  EXPECT_EQ(decrypts(), 1);
  OnPlugin([](Plugin& plugin) {
    plugin.mu.AssertHeld();
    plugin.refuses = "";
  });
  Pass(seconds(2));
  EXPECT_EQ(Open(*provider, stored), "fresh");
}

TEST_F(ProviderTest, HealthReportsProblemsOfThePlugin) {
  const struct {
    const char *version, *healthz, *key_id, *want;
  } cases[] = {
      {"v2", "ok", "key", ""},
      {"v2beta1", "ok", "key", ""},
      {"v3", "ok", "key", "expected KMSv2 API version v2, got \"v3\""},
      {"v2", "sick", "key", "got unexpected healthz status: \"sick\""},
      {"v2", "ok", "", "keyID is empty"},
  };
  for (const auto& each : cases) {
    OnPlugin([&](Plugin& plugin) {
      plugin.mu.AssertHeld();
      plugin.version = each.version;
      plugin.healthz = each.healthz;
      plugin.key_id = each.key_id;
    });
    EXPECT_EQ(Start()->Health().message(), each.want);
  }
}

}  // namespace
}  // namespace cox::storage::kms

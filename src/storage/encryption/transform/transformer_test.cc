// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/transform/transformer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "storage/testing/hex.h"

namespace cox::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kNoPrefix[] = "no matching prefix found";

std::vector<EncryptionKey> Keys(std::initializer_list<std::pair<const char*, int>> keys) {
  std::vector<EncryptionKey> made;
  for (const auto& [name, first] : keys) {
    made.push_back({name, CountingKey(static_cast<unsigned char>(first), 32)});
  }
  return made;
}

class TransformerTest : public testing::Test {
 protected:
  std::string Seal(const TransformerPtr& with, std::string_view value = kObject) {
    std::string out;
    EXPECT_TRUE(with->Seal(ctx_, value, kStoreKey, &out).ok());
    return out;
  }
  // Returns "fresh", "stale", or the error.
  std::string Open(const TransformerPtr& with, const std::string& stored) {
    Result<Transformer::Plain> plain = with->Open(ctx_, Bytes(stored), kStoreKey);
    if (!plain.ok()) return plain.status().message();
    EXPECT_EQ(plain->value.view(), kObject);
    return plain->stale ? "stale" : "fresh";
  }

  TestClock clock_;
  Context ctx_{clock_};
};

TEST_F(TransformerTest, StoresWithThePrefixesOfKubernetes) {
  const struct {
    PrefixedTransformer provider;
    std::string prefix;
  } cases[] = {
      {NewAesGcmProvider(Keys({{"k1", 1}})), "k8s:enc:aesgcm:v1:k1:"},
      {NewAesCbcProvider(Keys({{"k1", 1}})), "k8s:enc:aescbc:v1:k1:"},
      {NewSecretboxProvider(Keys({{"k1", 1}})), "k8s:enc:secretbox:v1:k1:"},
  };
  for (const auto& each : cases) {
    const TransformerPtr chain = NewPrefixChain({each.provider}, kNoPrefix);
    const std::string stored = Seal(chain);
    EXPECT_THAT(stored, StartsWith(each.prefix));
    EXPECT_EQ(stored.find("Secret"), stored.npos);
    EXPECT_EQ(Open(chain, stored), "fresh");
  }
  EXPECT_EQ(Seal(NewPrefixChain({NewIdentityProvider()}, kNoPrefix)), kObject);
}

TEST_F(TransformerTest, WritesWithTheFirstKeyAndReadsWithAny) {
  const TransformerPtr old_only = NewPrefixChain({NewAesGcmProvider(Keys({{"a", 1}}))}, kNoPrefix);
  const TransformerPtr both =
      NewPrefixChain({NewAesGcmProvider(Keys({{"b", 2}, {"a", 1}}))}, kNoPrefix);
  const TransformerPtr new_only = NewPrefixChain({NewAesGcmProvider(Keys({{"b", 2}}))}, kNoPrefix);
  const std::string old = Seal(old_only);
  EXPECT_EQ(Open(both, old), "stale");
  const std::string rewritten = Seal(both);
  EXPECT_EQ(Open(both, rewritten), "fresh");
  EXPECT_EQ(Open(new_only, rewritten), "fresh");
  EXPECT_EQ(Open(new_only, old), "no matching key was found for the provided AES transformer");
}

TEST_F(TransformerTest, ValuesOfAnotherProviderAreStale) {
  const PrefixedTransformer gcm = NewAesGcmProvider(Keys({{"a", 1}}));
  const PrefixedTransformer box = NewSecretboxProvider(Keys({{"a", 1}}));
  const TransformerPtr chain = NewPrefixChain({box, gcm, NewIdentityProvider()}, kNoPrefix);
  EXPECT_EQ(Open(chain, Seal(NewPrefixChain({gcm}, kNoPrefix))), "stale");
  EXPECT_EQ(Open(chain, kObject), "stale");
  EXPECT_EQ(Open(chain, Seal(chain)), "fresh");
}

TEST_F(TransformerTest, MigratesAwayFromEncryption) {
  const PrefixedTransformer gcm = NewAesGcmProvider(Keys({{"a", 1}}));
  const TransformerPtr chain = NewPrefixChain({NewIdentityProvider(), gcm}, kNoPrefix);
  EXPECT_EQ(Open(chain, Seal(NewPrefixChain({gcm}, kNoPrefix))), "stale");
  EXPECT_EQ(Open(chain, kObject), "fresh");
  EXPECT_EQ(Seal(chain), kObject);
}

TEST_F(TransformerTest, TriesAllProvidersWithTheSamePrefix) {
  const PrefixedTransformer first = NewAesGcmProvider(Keys({{"a", 2}}));
  const PrefixedTransformer second = NewAesGcmProvider(Keys({{"a", 1}}));
  const std::string old = Seal(NewPrefixChain({second}, kNoPrefix));
  EXPECT_EQ(Open(NewPrefixChain({first, second}, kNoPrefix), old), "stale");
  EXPECT_EQ(Open(NewPrefixChain({first, first}, kNoPrefix), old),
            "[cipher: message authentication failed, cipher: message authentication failed]");
}

TEST_F(TransformerTest, ErrorsHaveUpstreamsText) {
  const TransformerPtr gcm = NewPrefixChain({NewAesGcmProvider(Keys({{"a", 1}}))}, kNoPrefix);
  const TransformerPtr identity = NewPrefixChain({NewIdentityProvider()}, kNoPrefix);
  const TransformerPtr box = NewPrefixChain({NewSecretboxProvider(Keys({{"a", 1}}))}, kNoPrefix);
  EXPECT_EQ(Open(gcm, kObject), kNoPrefix);
  EXPECT_EQ(Open(gcm, ""), kNoPrefix);
  EXPECT_EQ(Open(gcm, Seal(box)), kNoPrefix);
  EXPECT_EQ(Open(identity, Seal(gcm)), kNoPrefix);
  EXPECT_EQ(Open(box, "k8s:enc:secretbox:v1:b:xyz"),
            "no matching key was found for the provided Secretbox transformer");
}

TEST_F(TransformerTest, MetricsHaveResourceDirectionAndPrefix) {
  MetricsRegistry registry;
  EncryptionMetrics metrics(registry, "me");
  const TransformerPtr chain =
      NewPrefixChain({NewAesGcmProvider(Keys({{"a", 1}}))}, kNoPrefix,
                     std::make_shared<TransformationMetrics>(metrics, "secrets"));
  EXPECT_EQ(Open(chain, Seal(chain)), "fresh");
  EXPECT_EQ(Open(chain, "k8s:enc:aesgcm:v1:b:xyz"),
            "no matching key was found for the provided AES transformer");
  EXPECT_EQ(Open(chain, "x"), kNoPrefix);
  const std::string text = registry.Render();
  for (
      const char* line :
      {R"(apiserver_storage_transformation_operations_total{resource="secrets",status="OK",transformation_type="from_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 1)",
       R"(apiserver_storage_transformation_operations_total{resource="secrets",status="OK",transformation_type="to_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 1)",
       R"(apiserver_storage_transformation_operations_total{resource="secrets",status="Unknown",transformation_type="from_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 1)",
       R"(apiserver_storage_transformation_operations_total{resource="secrets",status="Unknown",transformation_type="from_storage",transformer_prefix="unknown"} 1)",
       R"(apiserver_storage_transformation_duration_seconds_count{transformation_type="to_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 1)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace cox::storage

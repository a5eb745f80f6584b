// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/encryption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "storage/memory/memory_store.h"
#include "storage/testing/hex.h"
#include "storage/unreadable.h"

namespace cox::storage {
namespace {

using Kind = EncryptionProvider::Kind;
using ::testing::HasSubstr;

EncryptionProvider With(Kind kind, const char* key) {
  EncryptionProvider provider;
  provider.kind = kind;
  if (kind != Kind::kIdentity) {
    provider.keys = {{key, CountingKey(static_cast<unsigned char>(key[0]), 32)}};
  }
  return provider;
}

class EncryptionTest : public testing::Test {
 protected:
  std::unique_ptr<Encryption> Make(std::vector<EncryptionRule> rules, bool reloads = false) {
    auto made = Encryption::Create(ctx_, {std::move(rules)}, reloads, metrics_);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return made.ok() ? *std::move(made) : nullptr;
  }
  // The stored form of a value of the resource, without its random part.
  std::string RestsAs(Encryption& encryption, std::string_view group, std::string_view resource) {
    const std::string key = "/" + std::to_string(++keys_);
    EXPECT_TRUE(encryption.StoreOf(*memory_, group, resource).Create(ctx_, key, "plain").ok());
    const std::string raw(memory_->Get(ctx_, key)->kv->value.view());
    size_t end = 0;
    for (int colons = 0; end < raw.size() && colons < 5; ++end) colons += raw[end] == ':';
    return raw == "plain" ? raw : raw.substr(0, end);
  }

  TestClock clock_;
  Context ctx_{clock_};
  MetricsRegistry metrics_;
  const std::unique_ptr<Store> memory_ = NewMemoryStore(clock_);
  int keys_ = 0;
};

TEST_F(EncryptionTest, FirstMatchingRuleApplies) {
  const auto encryption = Make({
      {{"configmaps"}, {With(Kind::kIdentity, "")}},
      {{"secrets", "deployments.apps"}, {With(Kind::kAesGcm, "a")}},
      {{"*."}, {With(Kind::kAesCbc, "b")}},
      {{"*.apps"}, {With(Kind::kSecretbox, "c")}},
      {{"*.*"}, {With(Kind::kAesGcm, "d")}},
  });
  const struct {
    const char *group, *resource, *want;
  } cases[] = {
      {"", "configmaps", "plain"},
      {"", "secrets", "k8s:enc:aesgcm:v1:a:"},
      {"apps", "deployments", "k8s:enc:aesgcm:v1:a:"},
      {"", "pods", "k8s:enc:aescbc:v1:b:"},
      {"apps", "daemonsets", "k8s:enc:secretbox:v1:c:"},
      {"batch", "jobs", "k8s:enc:aesgcm:v1:d:"},
      {"example.com", "secrets", "k8s:enc:aesgcm:v1:d:"},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(RestsAs(*encryption, each.group, each.resource), each.want)
        << each.group << "/" << each.resource;
  }
}

TEST_F(EncryptionTest, ResourcesWithoutARuleUseTheUnderlyingStore) {
  const auto encryption = Make({{{"secrets"}, {With(Kind::kAesGcm, "a")}}});
  EXPECT_EQ(&encryption->StoreOf(*memory_, "", "pods"), memory_.get());
  Store& secrets = encryption->StoreOf(*memory_, "", "secrets");
  EXPECT_NE(&secrets, memory_.get());
  EXPECT_EQ(&encryption->StoreOf(*memory_, "", "secrets"), &secrets);
  EXPECT_TRUE(encryption->Checks().empty());
}

TEST_F(EncryptionTest, ReloadChangesStoresThatAreInUse) {
  const auto encryption = Make({{{"secrets"}, {With(Kind::kAesGcm, "a")}}}, true);
  Store& secrets = encryption->StoreOf(*memory_, "", "secrets");
  ASSERT_TRUE(secrets.Create(ctx_, "/old", "plain").ok());
  EXPECT_EQ(RestsAs(*encryption, "", "pods"), "plain");

  ASSERT_TRUE(encryption
                  ->Reload({{{{"*."},
                              {With(Kind::kAesGcm, "b"), With(Kind::kAesGcm, "a"),
                               With(Kind::kIdentity, "")}}}})
                  .ok());
  EXPECT_EQ(RestsAs(*encryption, "", "secrets"), "k8s:enc:aesgcm:v1:b:");
  EXPECT_EQ(RestsAs(*encryption, "", "pods"), "k8s:enc:aesgcm:v1:b:");
  EXPECT_TRUE(secrets.Get(ctx_, "/old")->kv->stale);
  EXPECT_EQ(secrets.Get(ctx_, "/old")->kv->value.view(), "plain");

  ASSERT_TRUE(encryption->Reload({{{{"*."}, {With(Kind::kAesGcm, "b")}}}}).ok());
  EXPECT_EQ(WhyUnreadable(secrets.Get(ctx_, "/old")->kv->value.view()),
            "no matching key was found for the provided AES transformer");
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("apiserver_encryption_config_controller_automatic_reloads_total{"));
}

TEST_F(EncryptionTest, ReloadWithInvalidOptionsFailsAndChangesNothing) {
  const auto encryption = Make({{{"secrets"}, {With(Kind::kAesGcm, "a")}}}, true);
  EncryptionProvider short_key = With(Kind::kAesGcm, "a");
  short_key.keys.front().secret = CountingKey(1, 17);
  EXPECT_FALSE(encryption->Reload({{{{"secrets"}, {short_key}}}}).ok());
  EncryptionProvider kms;
  kms.kind = Kind::kKms;
  kms.kms = {.name = "gone", .endpoint = "unix:///nowhere/kms.sock"};
  const Status unreachable = encryption->Reload({{{{"secrets"}, {kms}}}});
  EXPECT_THAT(unreachable.message(), HasSubstr("kms provider gone"));
  EXPECT_EQ(RestsAs(*encryption, "", "secrets"), "k8s:enc:aesgcm:v1:a:");
  ASSERT_EQ(encryption->Checks().size(), 1U);
  EXPECT_EQ(encryption->Checks().front().name, "kms-providers");
  EXPECT_TRUE(encryption->Checks().front().check().ok());
}

TEST_F(EncryptionTest, UnavailableKmsFailsHealthCheckAndWrites) {
  EncryptionProvider kms;
  kms.kind = Kind::kKms;
  kms.kms = {.name = "gone", .endpoint = "unix:///nowhere/kms.sock"};
  const auto encryption = Make({{{"secrets"}, {kms, With(Kind::kIdentity, "")}}});
  ASSERT_EQ(encryption->Checks().size(), 1U);
  EXPECT_EQ(encryption->Checks().front().name, "kms-provider-0");
  EXPECT_THAT(encryption->Checks().front().check().message(), HasSubstr("/nowhere/kms.sock"));
  Store& secrets = encryption->StoreOf(*memory_, "", "secrets");
  const Status status = secrets.Create(ctx_, "/a", "plain").status();
  EXPECT_TRUE(status.Is(Reason::kInternalError));
  EXPECT_THAT(status.message(), testing::StartsWith("Internal error occurred: "));
  EXPECT_FALSE(memory_->Get(ctx_, "/a")->kv);
}

}  // namespace
}  // namespace cox::storage

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/config/encryption_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

using Kind = storage::EncryptionProvider::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// 32 bytes.
constexpr char kKey[] = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

Result<storage::EncryptionOptions> Parse(const std::string& resources) {
  return ParseEncryptionConfig(
      "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" +
      resources);
}
// The error for a rule with these resources and one provider.
std::string Problem(const std::string& resources, const std::string& provider) {
  return Parse("- resources: " + resources + "\n  providers: [" + provider + "]\n")
      .status()
      .message();
}
std::string Keys(const std::string& secret) {
  return "{keys: [{name: k1, secret: " + secret + "}]}";
}

TEST(EncryptionConfigTest, ReadsProvidersInOrder) {
  Result<storage::EncryptionOptions> options = Parse(R"(
- resources: [secrets, deployments.apps, "*.batch"]
  providers:
  - aesgcm:
      keys:
      - {name: new, secret: )" + std::string(kKey) + R"(}
      - {name: old, secret: MDEyMzQ1Njc4OWFiY2RlZg==}
  - aescbc: {keys: [{name: c, secret: )" + kKey + R"(}]}
  - secretbox: {keys: [{name: s, secret: )" + kKey + R"(}]}
  - kms: {apiVersion: v2, name: vault, endpoint: "unix:///run/kms.sock", timeout: 500ms}
  - identity: {}
- resources: ["*.*"]
  providers: [{identity: {}}]
)");
  ASSERT_TRUE(options.ok()) << options.status().message();
  ASSERT_EQ(options->rules.size(), 2U);
  const storage::EncryptionRule& rule = options->rules.front();
  EXPECT_THAT(rule.resources, ElementsAre("secrets", "deployments.apps", "*.batch"));
  ASSERT_EQ(rule.providers.size(), 5U);
  EXPECT_EQ(rule.providers[0].kind, Kind::kAesGcm);
  ASSERT_EQ(rule.providers[0].keys.size(), 2U);
  EXPECT_EQ(rule.providers[0].keys[0].name, "new");
  EXPECT_EQ(rule.providers[0].keys[0].secret.view(), "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(rule.providers[0].keys[1].secret.size(), 16U);
  EXPECT_EQ(rule.providers[1].kind, Kind::kAesCbc);
  EXPECT_EQ(rule.providers[2].kind, Kind::kSecretbox);
  EXPECT_EQ(rule.providers[3].kind, Kind::kKms);
  EXPECT_EQ(rule.providers[3].kms.name, "vault");
  EXPECT_EQ(rule.providers[3].kms.timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(rule.providers[4].kind, Kind::kIdentity);
}

TEST(EncryptionConfigTest, RejectsInvalidRules) {
  const std::string good = std::string("{aesgcm: ") + Keys(kKey) + "}";
  const struct {
    std::string resources, provider, want;
  } cases[] = {
      {"[secrets]", good, ""},
      {"[]", good, "at least one resource is required"},
      {"[Secrets]", good, "resource name should not contain capital letters"},
      {"['*']", good, "use '*.' to encrypt all the resources from core API group"},
      {"[secrets, secrets]", good, "the same resource cannot be specified multiple times"},
      {"[secrets, '*.']", good, "using overlapping resources such as 'secrets' and '*.'"},
      {"['*.apps', '*.*']", good, "using overlapping resources"},
      {"[events.events.k8s.io]", good, "Use 'events' instead in the config file"},
      {"[ingresses.extensions]", good, "'extensions' group has been removed"},
      {"[secrets]", "{}", "provider does not contain any of the expected providers"},
      {"[secrets]", "{identity: {}, aesgcm: " + Keys(kKey) + "}",
       "more than one provider specified in a single element"},
      {"[secrets]", "{aesgcm: {keys: []}}", "at least one key is required"},
      {"[secrets]", "{aesgcm: " + Keys("c2hvcnQ=") + "}",
       "secret is not of the expected length, got 5, expected one of [16 24 32]"},
      {"[secrets]", "{secretbox: " + Keys("MDEyMzQ1Njc4OWFiY2RlZg==") + "}",
       "secret is not of the expected length, got 16, expected one of [32]"},
      {"[secrets]", "{aesgcm: {keys: [{name: k}]}}", "a secret must be provided"},
      {"[secrets]", "{aesgcm: {keys: [{name: k, secrt: x}]}}", "secrt"},
      {"[secrets]", "{kms: {name: a, endpoint: 'unix:///a'}}", "KMSv1 is deprecated"},
      {"[secrets]", "{kms: {apiVersion: v1, name: a, endpoint: 'unix:///a'}}",
       "KMSv1 is deprecated"},
      {"[secrets]", "{kms: {apiVersion: v3, name: a, endpoint: 'unix:///a'}}",
       "unsupported apiVersion"},
      {"[secrets]", "{kms: {apiVersion: v2, name: 'a:b', endpoint: 'unix:///a'}}",
       "must not contain ':'"},
      {"[secrets]", "{kms: {apiVersion: v2, name: a, endpoint: 'tcp://1.2.3.4:5'}}", "unix://"},
      {"[secrets]", "{kms: {apiVersion: v2, name: a, endpoint: 'unix:///a', timeout: 0s}}",
       "timeout should be a positive value"},
      {"[secrets]", "{kms: {apiVersion: v2, name: a, endpoint: 'unix:///a', cachesize: 5}}",
       "cachesize is not supported in v2"},
  };
  for (const auto& each : cases) {
    const std::string problem = Problem(each.resources, each.provider);
    if (each.want.empty()) {
      EXPECT_EQ(problem, "");
    } else {
      EXPECT_THAT(problem, HasSubstr(each.want)) << each.resources << " " << each.provider;
    }
  }
}

TEST(EncryptionConfigTest, KeysAreNotInErrors) {
  EXPECT_THAT(Problem("[secrets]", "{aesgcm: " + Keys("c2hvcnQ=") + "}"),
              Not(HasSubstr("c2hvcnQ")));
  EXPECT_THAT(Problem("[secrets]", "{aesgcm: " + Keys("'not base64 !'") + "}"),
              Not(HasSubstr("not base64")));
}

TEST(EncryptionConfigTest, KmsNamesAreUnique) {
  EXPECT_THAT(Problem("[secrets]",
                      "{kms: {apiVersion: v2, name: a, endpoint: 'unix:///a'}}, "
                      "{kms: {apiVersion: v2, name: a, endpoint: 'unix:///b'}}"),
              HasSubstr("duplicate KMS provider name a, names must be unique"));
}

TEST(EncryptionConfigTest, OtherDocumentsAreRejected) {
  EXPECT_FALSE(ParseEncryptionConfig("apiVersion: v1\nkind: EncryptionConfig\n").ok());
  EXPECT_FALSE(ParseEncryptionConfig("").ok());
}

}  // namespace
}  // namespace cox::apiserver

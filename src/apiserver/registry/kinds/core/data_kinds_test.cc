// SPDX-License-Identifier: Apache-2.0
// ConfigMap, Secret and ServiceAccount.
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

TEST(ConfigMapTest, ValidatesKeysAndSize) {
  StrategyHarness maps(NewConfigMapStrategy());
  const CreateCase cases[] = {
      {R"("data":{"a":"b"},"binaryData":{"c":"AA=="})", ""},
      {R"("data":{"..":"x"})", "data[..]: Invalid value: \"..\": must not be '..'"},
      {R"("data":{"a":"x"},"binaryData":{"a":"AA=="})",
       "data[a]: Invalid value: \"a\": duplicate of key present in binaryData"},
  };
  ExpectCreate(maps, cases);
  std::string big(kMaxDataBytes + 1, 'x');
  EXPECT_EQ(maps.Create(R"({"metadata":{"name":"a"},"data":{"k":")" + big + "\"}}").error,
            "[]: Too long: may not be more than 1048576 bytes");
}

TEST(ConfigMapTest, ImmutableCannotBeChanged) {
  StrategyHarness maps(NewConfigMapStrategy());
  Object old = maps.Create(R"({"metadata":{"name":"a"},"immutable":true,"data":{"a":"b"}})").object;
  EXPECT_EQ(maps.Update(old, R"({"data":{"a":"c"}})").error,
            "data: Forbidden: field is immutable when `immutable` is set");
  EXPECT_EQ(maps.Update(old, R"({"immutable":null})").error,
            "immutable: Forbidden: field is immutable when `immutable` is set");
  EXPECT_EQ(maps.Update(old, R"({"binaryData":{"x":"AA=="}})").error,
            "binaryData: Forbidden: field is immutable when `immutable` is set");
  EXPECT_EQ(maps.Update(old, R"({"metadata":{"labels":{"a":"b"}}})").error, "");
  EXPECT_EQ(maps.Row(old), R"(["a",1,"60m"])");
}

TEST(SecretTest, StringDataBecomesData) {
  StrategyHarness secrets(NewSecretStrategy());
  auto made = secrets.Create(
      R"({"metadata":{"name":"a"},"data":{"a":"AA==","b":"AA=="},"stringData":{"a":"x"}})");
  EXPECT_EQ(made.Text(), R"({"data":{"a":"eA==","b":"AA=="},"type":"Opaque"})");
  EXPECT_EQ(secrets.Row(made.object), R"(["a","Opaque",2,"60m"])");
  FieldPairs fields = secrets.strategy().Fields(made.object);
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0], std::make_pair(std::string("type"), std::string("Opaque")));
}

TEST(SecretTest, ValidatesKeysOfWellKnownTypes) {
  StrategyHarness secrets(NewSecretStrategy());
  const CreateCase cases[] = {
      {R"("type":"kubernetes.io/tls")",
       "[data[tls.crt]: Required value, data[tls.key]: Required value]"},
      {R"("type":"kubernetes.io/basic-auth")",
       "[data[username]: Required value, data[password]: Required value]"},
      {R"("type":"kubernetes.io/basic-auth","stringData":{"password":"p"})", ""},
      {R"("type":"kubernetes.io/ssh-auth")", "data[ssh-privatekey]: Required value"},
      {R"("type":"kubernetes.io/dockerconfigjson")", "data[.dockerconfigjson]: Required value"},
      {R"("type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":"AA=="})",
       "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid character "
       "'\\x00' looking for beginning of value"},
      {R"("type":"kubernetes.io/dockercfg","stringData":{".dockercfg":"[]"})",
       "data[.dockercfg]: Invalid value: \"<secret contents redacted>\": json: cannot unmarshal "
       "array into Go value of type map[string]interface {}"},
      {R"("type":"kubernetes.io/service-account-token")",
       "metadata.annotations[kubernetes.io/service-account.name]: Required value"},
      {R"("type":"example.com/mine")", ""},
  };
  ExpectCreate(secrets, cases);
}

TEST(SecretTest, WarnsAboutInvalidTlsPair) {
  StrategyHarness secrets(NewSecretStrategy());
  auto made = secrets.Create(
      R"({"metadata":{"name":"a"},"type":"kubernetes.io/tls","stringData":
          {"tls.crt":"c","tls.key":"k"}})");
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.warnings, Warnings{"tls: failed to find any PEM data in certificate input"});
}

TEST(SecretTest, TypeIsImmutable) {
  StrategyHarness secrets(NewSecretStrategy());
  Object old = secrets.Create(R"({"metadata":{"name":"a"},"immutable":true})").object;
  EXPECT_EQ(secrets.Update(old, R"({"type":"x"})").error,
            "type: Invalid value: \"x\": field is immutable");
  EXPECT_EQ(secrets.Update(old, R"({"stringData":{"b":"c"}})").error,
            "data: Forbidden: field is immutable when `immutable` is set");
}

TEST(ServiceAccountTest, KeepsOnlyNamesOfSecrets) {
  StrategyHarness accounts(NewServiceAccountStrategy());
  auto made = accounts.Create(
      R"({"metadata":{"name":"a"},"secrets":[{"kind":"Secret","namespace":"x","name":"s"}]})");
  EXPECT_EQ(made.Text(), R"({"secrets":[{"name":"s"}]})");
  EXPECT_TRUE(made.warnings.empty());
}

TEST(ServiceAccountTest, WarnsAboutDeprecatedAnnotationOnlyOnce) {
  StrategyHarness accounts(NewServiceAccountStrategy());
  auto made = accounts.Create(R"({"metadata":{"name":"a","annotations":
      {"kubernetes.io/enforce-mountable-secrets":"true"}}})");
  EXPECT_EQ(made.warnings.size(), 1u);
  EXPECT_TRUE(accounts.Update(made.object, R"({"secrets":[{"name":"x"}]})").warnings.empty());
}

}  // namespace
}  // namespace cox::apiserver

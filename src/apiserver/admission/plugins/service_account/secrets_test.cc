// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/service_account/secrets.h"

#include <gtest/gtest.h>

#include "object/codec/json/json.h"
#include "object/object.h"

namespace cox::apiserver::service_account {
namespace {

using core::v1::PodSpec;
using core::v1::ServiceAccount;

PodSpec SpecOf(const std::string& text) {
  Object object(core::v1::Pod::kKind);
  EXPECT_TRUE(object.FromValue(*json::Parse(R"({"spec":)" + text + "}")).ok()) << text;
  return object.As<core::v1::Pod>()->spec;
}

ServiceAccount Account() {
  ServiceAccount account;
  account.metadata.name = "sa";
  account.secrets.emplace_back().name = "mine";
  account.imagePullSecrets.emplace_back().name = "pull";
  return account;
}

std::string EnvVar(const std::string& secret) {
  return R"([{"name":"c","env":[{"name":"V","valueFrom":{"secretKeyRef":{"name":")" + secret +
         R"(","key":"k"}}}]}])";
}
std::string EnvFrom(const std::string& secret) {
  return R"([{"name":"c","envFrom":[{"secretRef":{"name":")" + secret + R"("}}]}])";
}

TEST(MountableSecretsTest, AreEnforcedByTheAnnotation) {
  ServiceAccount account;
  EXPECT_FALSE(EnforcesMountableSecrets(account));
  for (const char* yes : {"true", "True", "1", "t"}) {
    account.metadata.annotations["kubernetes.io/enforce-mountable-secrets"] = yes;
    EXPECT_TRUE(EnforcesMountableSecrets(account)) << yes;
  }
  for (const char* no : {"false", "", "yes", "0"}) {
    account.metadata.annotations["kubernetes.io/enforce-mountable-secrets"] = no;
    EXPECT_FALSE(EnforcesMountableSecrets(account)) << no;
  }
}

TEST(MountableSecretsTest, UnlistedSecretsAreRejected) {
  const struct {
    std::string spec, want;  // the text before "is not allowed because ..."
  } kCases[] = {
      {R"({"volumes":[{"name":"v","secret":{"secretName":"other"}}]})",
       "volume with secret.secretName=\"other\""},
      {R"({"volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"other"}}]}}]})",
       "volume with projected secret.name=\"other\""},
      {R"({"initContainers":)" + EnvVar("other") + "}",
       "init container c with envVar V referencing secret.secretName=\"other\""},
      {R"({"containers":)" + EnvVar("other") + "}",
       "container c with envVar V referencing secret.secretName=\"other\""},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ForbiddenSecret(Account(), SpecOf(c.spec)),
              c.want + " is not allowed because service account sa does not reference that secret");
  }
  EXPECT_EQ(ForbiddenSecret(Account(),
                            SpecOf(R"({"imagePullSecrets":[{"name":"pull"},{"name":"mine"}]})")),
            "imagePullSecrets[1].name=\"mine\" is not allowed because service account sa does not "
            "reference that imagePullSecret");
  EXPECT_EQ(ForbiddenSecret(Account(), SpecOf(R"({
      "volumes":[{"name":"v","secret":{"secretName":"mine"}},{"name":"w","emptyDir":{}}],
      "imagePullSecrets":[{"name":"pull"}],
      "initContainers":)" + EnvVar("mine") + R"(,"containers":)" +
                                              EnvFrom("mine") + "}")),
            "");
}

TEST(MountableSecretsTest, CVE_2023_2728_EphemeralContainersAreChecked) {
  const PodSpec variable = SpecOf(R"({"ephemeralContainers":)" + EnvVar("other") + "}");
  const std::string want =
      "ephemeral container c with envVar V referencing secret.secretName=\"other\" is not allowed "
      "because service account sa does not reference that secret";
  EXPECT_EQ(ForbiddenSecret(Account(), variable), want);
  EXPECT_EQ(ForbiddenEphemeralSecret(Account(), variable), want);
  const PodSpec fine = SpecOf(R"({"ephemeralContainers":)" + EnvVar("mine") + "}");
  EXPECT_EQ(ForbiddenEphemeralSecret(Account(), fine), "");
}

TEST(MountableSecretsTest, CVE_2024_3177_EnvFromIsChecked) {
  for (const auto& [list, kind] :
       {std::pair{"initContainers", "init container"}, std::pair{"containers", "container"},
        std::pair{"ephemeralContainers", "ephemeral container"}}) {
    const std::string field = R"({")" + std::string(list) + R"(":)";
    EXPECT_EQ(ForbiddenSecret(Account(), SpecOf(field + EnvFrom("other") + "}")),
              std::string(kind) +
                  " c with envFrom referencing secret.secretName=\"other\" is not allowed because "
                  "service account sa does not reference that secret");
    EXPECT_EQ(ForbiddenSecret(Account(), SpecOf(field + EnvFrom("mine") + "}")), "");
  }
}

}  // namespace
}  // namespace cox::apiserver::service_account

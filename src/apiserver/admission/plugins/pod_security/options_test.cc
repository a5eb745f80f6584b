// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_security/options.h"

#include <gtest/gtest.h>

#include "object/codec/yaml/yaml.h"

namespace cox::apiserver::pod_security {
namespace {

Result<Options> Read(const std::string& rest) {
  return ReadOptions(
      *yaml::Parse("apiVersion: pod-security.admission.config.k8s.io/v1\n"
                   "kind: PodSecurityConfiguration\n" +
                   rest));
}

TEST(PodSecurityOptionsTest, ParsesDefaultsAndExemptions) {
  const Result<Options> options = Read(R"(
defaults:
  enforce: baseline
  enforce-version: v1.30
  warn: restricted
exemptions:
  usernames: [system:serviceaccount:kube-system:daemons]
  namespaces: [kube-system]
  runtimeClasses: [sandbox]
)");
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options->defaults.enforce.ToString(), "baseline:v1.30");
  EXPECT_EQ(options->defaults.audit.ToString(), "privileged:latest");
  EXPECT_EQ(options->defaults.warn.ToString(), "restricted:latest");
  EXPECT_EQ(options->exempt_users,
            std::vector<std::string>{"system:serviceaccount:kube-system:daemons"});
  EXPECT_EQ(options->exempt_namespaces, std::vector<std::string>{"kube-system"});
  EXPECT_EQ(options->exempt_runtime_classes, std::vector<std::string>{"sandbox"});
}

TEST(PodSecurityOptionsTest, EmptyConfigurationIsPrivileged) {
  const Result<Options> empty = Read("");
  ASSERT_TRUE(empty.ok()) << empty.status().message();
  EXPECT_TRUE(empty->defaults.FullyPrivileged());
}

TEST(PodSecurityOptionsTest, InvalidConfigurationsAreRejected) {
  for (const char* text : {
           "defaults: {enforce: strict}",
           "defaults: {enforce-version: '1.30'}",
           "defaults: {enforced: baseline}",
           "exemptions: {usernames: [a, a]}",
           "exemptions: {usernames: ['']}",
           "exemptions: {namespaces: ['Kube System']}",
           "exemptions: {runtimeclasses: [a]}",
       }) {
    EXPECT_FALSE(Read(text).ok()) << text;
  }
  EXPECT_FALSE(ReadOptions(*yaml::Parse("{apiVersion: v1, kind: PodSecurityConfiguration}")).ok());
}

}  // namespace
}  // namespace cox::apiserver::pod_security

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/authorizer/authorization_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::string_view kHead =
    "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n";

std::string Webhook(const std::string& more, const std::string& name = "hook") {
  return "- type: Webhook\n  name: " + name +
         "\n  webhook:\n    timeout: 3s\n    subjectAccessReviewVersion: v1\n"
         "    failurePolicy: Deny\n    connectionInfo:\n      type: KubeConfigFile\n"
         "      kubeConfigFile: /etc/hook.yaml\n" +
         more;
}

Result<std::vector<AuthorizerConfig>> Parse(const std::string& list) {
  return ParseAuthorizationConfiguration(std::string(kHead) + list);
}

TEST(AuthorizationConfiguration, ParsesAuthorizersInOrder) {
  const auto read =
      Parse(Webhook("    unauthorizedTTL: 10s\n    cacheAuthorizedRequests: false\n") +
            "- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const std::vector<AuthorizerConfig> want = {
      {"Webhook", "hook",
       WebhookAuthorizerConfig{.kubeconfig = "/etc/hook.yaml",
                               .version = "v1",
                               .authorized_ttl = 0s,
                               .unauthorized_ttl = 10s,
                               .timeout = 3s,
                               .deny_on_failure = true}},
      {"Node", "node"},
      {"RBAC", "rbac"}};
  EXPECT_EQ(*read, want);
  EXPECT_EQ((*Parse(Webhook("")))[0].webhook->authorized_ttl, 5min);
}

TEST(AuthorizationConfiguration, ReportsInvalidFields) {
  const std::pair<std::string, std::string> kCases[] = {
      {"", "authorizers"},
      {"- {type: ABAC, name: a}\n", "no authorizer of type \"ABAC\""},
      {"- {type: RBAC}\n", "name"},
      {"- {type: RBAC, name: A_b}\n", "must be a lower-case DNS name"},
      {"- {type: RBAC, name: a}\n- {type: RBAC, name: b}\n", "another authorizer of type \"RBAC\""},
      {"- {type: RBAC, name: a}\n- {type: Node, name: a}\n", "another authorizer with the name"},
      {"- {type: RBAC, name: a, extra: 1}\n", "extra"},
      {"- {type: Webhook, name: a}\n", "webhook"},
      {Webhook("    timeout: 31s\n"), ""},  // duplicate key
      {"- type: Webhook\n  name: a\n  webhook: {}\n", "failurePolicy"},
      {"- type: Webhook\n  name: a\n  webhook: {timeout: 40s}\n", "must be at most 30s"},
      {"- type: Webhook\n  name: a\n  webhook: {failurePolicy: Allow}\n", "failurePolicy"},
      {"- type: Webhook\n  name: a\n  webhook: {connectionInfo: {type: InClusterConfig}}\n",
       "InClusterConfig is not supported"},
      {Webhook("    matchConditions: [{expression: 'true'}]\n"), "match conditions need CEL"},
  };
  for (const auto& [list, what] : kCases) {
    const auto read = Parse(list);
    EXPECT_FALSE(read.ok()) << list;
    EXPECT_THAT(read.status().message(), HasSubstr(what)) << list;
  }
}

TEST(AuthorizationModes, MustBeKnownAndUnique) {
  AuthorizationOptions options;
  options.modes = {"Node", "RBAC"};
  EXPECT_EQ(*AuthorizersOfModes(options),
            (std::vector<AuthorizerConfig>{{"Node", "Node"}, {"RBAC", "RBAC"}}));
  for (const std::vector<std::string>& modes :
       {std::vector<std::string>{}, {"ABAC"}, {"RBAC", "RBAC"}, {"Webhook"}}) {
    options.modes = modes;
    EXPECT_FALSE(AuthorizersOfModes(options).ok());
  }
  options.webhook.kubeconfig = "/etc/hook.yaml";
  options.modes = {"Webhook"};
  EXPECT_EQ((*AuthorizersOfModes(options))[0].webhook->kubeconfig, "/etc/hook.yaml");
  options.modes = {"RBAC"};  // the kubeconfig would be ignored
  EXPECT_FALSE(AuthorizersOfModes(options).ok());
}

}  // namespace
}  // namespace cox::apiserver

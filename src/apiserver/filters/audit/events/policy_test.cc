// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/events/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

using testing::HasSubstr;

AuditPolicy Parsed(const std::string& rules) {
  Result<AuditPolicy> policy =
      AuditPolicy::Parse("apiVersion: audit.k8s.io/v1\nkind: Policy\n" + rules);
  EXPECT_TRUE(policy.ok()) << policy.status().message();
  return policy.ok() ? *std::move(policy) : AuditPolicy();
}

UserInfo Who(std::string name, std::vector<std::string> groups = {}) {
  return {.name = std::move(name), .uid = {}, .groups = std::move(groups), .extra = {}};
}

RequestInfo Request(std::string_view method, std::string_view target) {
  const size_t mark = target.find('?');
  const Query query =
      Query::Parse(mark == target.npos ? std::string_view() : target.substr(mark + 1));
  Result<RequestInfo> info = ParseRequestInfo(method, target, query);
  EXPECT_TRUE(info.ok()) << target;
  return info.ok() ? *std::move(info) : RequestInfo();
}

std::string LevelOf(const AuditPolicy& policy, const UserInfo& user, const RequestInfo& request) {
  return std::string(AuditLevelName(policy.Decide(user, request).level));
}

TEST(AuditPolicyTest, FirstMatchingRuleDecidesAndDefaultIsNone) {
  const AuditPolicy policy = Parsed(R"(rules:
- {level: None, users: [quiet]}
- {level: Metadata, userGroups: [ops, dev]}
- {level: Request, verbs: [create, delete]}
- {level: RequestResponse, namespaces: [prod, ""], resources: [{group: apps}]}
- {level: Metadata, nonResourceURLs: ["/healthz*", "/version"]}
)");
  const struct {
    UserInfo user;
    std::string_view method, target, level;
  } kCases[] = {
      {Who("quiet", {"ops"}), "POST", "/api/v1/namespaces", "None"},
      {Who("a", {"x", "dev"}), "POST", "/api/v1/namespaces", "Metadata"},
      {Who("a"), "POST", "/api/v1/namespaces", "Request"},
      {Who("a"), "DELETE", "/api/v1/namespaces/n", "Request"},
      {Who("a"), "DELETE", "/api/v1/namespaces/n/pods", "None"},  // deletecollection
      {Who("a"), "GET", "/apis/apps/v1/namespaces/prod/deployments", "RequestResponse"},
      {Who("a"), "GET", "/apis/apps/v1/deployments", "RequestResponse"},
      {Who("a"), "GET", "/apis/apps/v1/namespaces/test/deployments", "None"},
      {Who("a"), "GET", "/api/v1/namespaces/prod/pods", "None"},
      {Who("a"), "GET", "/healthz", "Metadata"},
      {Who("a"), "GET", "/healthz/etcd", "Metadata"},
      {Who("a"), "GET", "/version", "Metadata"},
      {Who("a"), "GET", "/version/x", "None"},
      {Who("a"), "GET", "/metrics", "None"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(LevelOf(policy, c.user, Request(c.method, c.target)), c.level)
        << c.user.name << " " << c.method << " " << c.target;
  }
}

TEST(AuditPolicyTest, ResourcePatternsMatchSubresources) {
  const struct {
    std::string_view pattern, target;
    bool matches;
  } kCases[] = {
      {"pods", "/api/v1/namespaces/n/pods/p", true},
      {"pods", "/api/v1/namespaces/n/pods/p/log", false},
      {"pods/log", "/api/v1/namespaces/n/pods/p/log", true},
      {"pods/log", "/api/v1/namespaces/n/pods/p", false},
      {"pods/log", "/api/v1/namespaces/n/pods/p/status", false},
      {"pods/*", "/api/v1/namespaces/n/pods/p/log", true},
      {"pods/*", "/api/v1/namespaces/n/pods/p", true},
      {"pods/*", "/api/v1/namespaces/n/services/p", false},
      {"*/status", "/api/v1/namespaces/n/pods/p/status", true},
      {"*/status", "/api/v1/namespaces/n/pods/p", false},
      {"*", "/api/v1/namespaces/n/pods/p/log", true},
      {"*", "/apis/apps/v1/deployments", false},
  };
  for (const auto& c : kCases) {
    const AuditPolicy policy =
        Parsed("rules:\n- level: Metadata\n  resources:\n  - {group: '', resources: ['" +
               std::string(c.pattern) + "']}\n");
    EXPECT_EQ(LevelOf(policy, Who("a"), Request("GET", c.target)), c.matches ? "Metadata" : "None")
        << c.pattern << " " << c.target;
  }
}

TEST(AuditPolicyTest, ResourceNamesMatchSingleObjects) {
  const AuditPolicy policy = Parsed(R"(rules:
- level: None
  resources: [{resources: [configmaps], resourceNames: [controller-leader]}]
- level: Metadata
)");
  EXPECT_EQ(LevelOf(policy, Who("a"),
                    Request("GET", "/api/v1/namespaces/n/configmaps/controller-leader")),
            "None");
  EXPECT_EQ(LevelOf(policy, Who("a"), Request("GET", "/api/v1/namespaces/n/configmaps/other")),
            "Metadata");
  EXPECT_EQ(LevelOf(policy, Who("a"), Request("GET", "/api/v1/namespaces/n/configmaps")),
            "Metadata");
}

TEST(AuditPolicyTest, StagesAreOmittedByPolicyAndRule) {
  const AuditPolicy policy = Parsed(R"(omitStages: [RequestReceived]
omitManagedFields: true
rules:
- {level: Metadata, users: [a], omitStages: [ResponseStarted]}
- {level: Metadata, omitManagedFields: false}
)");
  const AuditDecision a = policy.Decide(Who("a"), {});
  EXPECT_TRUE(a.omitted.Has(AuditStage::kRequestReceived));
  EXPECT_TRUE(a.omitted.Has(AuditStage::kResponseStarted));
  EXPECT_FALSE(a.omitted.Has(AuditStage::kResponseComplete));
  EXPECT_TRUE(a.omit_managed_fields);
  const AuditDecision b = policy.Decide(Who("b"), {});
  EXPECT_TRUE(b.omitted.Has(AuditStage::kRequestReceived));
  EXPECT_FALSE(b.omitted.Has(AuditStage::kResponseStarted));
  EXPECT_FALSE(b.omit_managed_fields);
}

TEST(AuditPolicyTest, InvalidPolicyIsRejectedWithField) {
  const struct {
    std::string_view text, error;
  } kCases[] = {
      {"rules: []", "at least one rule"},
      {"rules: [{levle: Metadata}]", "levle"},
      {"rules: [{level: All}]", "unsupported value \"All\""},
      {"rules: [{level: None, omitStages: [Later]}]", "unsupported value \"Later\""},
      {"rules: [{level: None, nonResourceURLs: [healthz]}]", "must begin with a '/'"},
      {"rules: [{level: None, nonResourceURLs: ['/a*b']}]", "must be the final character"},
      {"rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]", "both regular resources"},
      {"rules: [{level: None, resources: [{resourceNames: [x]}]}]", "at least one resource"},
      {"rules: [{level: None, resources: [{group: apps/v1}]}]", "without a version"},
      {"rules: [{level: None, users: alice}]", "rules[0].users"},
      {"rules: [{level: None}]\nrulez: []", "rulez"},
  };
  for (const auto& c : kCases) {
    const Result<AuditPolicy> policy =
        AuditPolicy::Parse("apiVersion: audit.k8s.io/v1\nkind: Policy\n" + std::string(c.text));
    ASSERT_FALSE(policy.ok()) << c.text;
    EXPECT_THAT(policy.status().message(), HasSubstr(c.error)) << c.text;
  }
  EXPECT_FALSE(
      AuditPolicy::Parse("apiVersion: audit.k8s.io/v2\nkind: Policy\nrules: [{level: None}]").ok());
}

}  // namespace
}  // namespace cox::apiserver

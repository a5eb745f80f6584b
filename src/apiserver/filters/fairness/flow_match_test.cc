// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/flow_match.h"

#include <gtest/gtest.h>

#include "apiserver/filters/fairness/flow_control.h"

namespace cox::apiserver {
namespace {

using flowcontrol::v1::FlowSchema;

RequestInfo Info(std::string_view method, std::string_view target) {
  const size_t mark = target.find('?');
  const Query query =
      Query::Parse(mark == target.npos ? std::string_view() : target.substr(mark + 1));
  return *ParseRequestInfo(method, target, query);
}

// The name of the matching schema with the lowest precedence value.
std::string First(const UserInfo& user, const RequestInfo& info) {
  const FlowSchema* best = nullptr;
  const List<FlowSchema> all = BootstrapFlowSchemas();
  for (const FlowSchema& schema : all) {
    if (!MatchesFlowSchema(schema.spec, user, info)) continue;
    if (best == nullptr || schema.spec.matchingPrecedence < best->spec.matchingPrecedence) {
      best = &schema;
    }
  }
  return best == nullptr ? "" : best->metadata.name;
}

UserInfo User(std::string name, std::vector<std::string> groups) {
  UserInfo user;
  user.name = std::move(name);
  user.groups = std::move(groups);
  return user;
}

TEST(FlowMatch, BootstrapSchemasMatchLikeUpstream) {
  const std::string all(kAuthenticatedGroup);
  const UserInfo root = User("root", {std::string(kMastersGroup), all});
  const UserInfo node = User("system:node:n1", {"system:nodes", all});
  const UserInfo manager = User("system:kube-controller-manager", {all});
  const UserInfo dns = User("system:serviceaccount:kube-system:dns",
                            {"system:serviceaccounts", "system:serviceaccounts:kube-system", all});
  const UserInfo account = User("system:serviceaccount:team:app", {"system:serviceaccounts", all});
  const UserInfo alice = User("alice", {all});
  const UserInfo nobody = User("system:anonymous", {std::string(kUnauthenticatedGroup)});
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x";
  const struct {
    const UserInfo& user;
    std::string method, target, schema;
  } kCases[] = {
      {root, "GET", "/api/v1/pods", "exempt"},
      {root, "GET", "/version", "exempt"},
      {alice, "GET", "/healthz", "probes"},
      {nobody, "GET", "/readyz", "probes"},
      {alice, "POST", "/healthz", "global-default"},
      {alice, "GET", "/healthz/etcd", "global-default"},
      {manager, "PUT", lease, "system-leader-election"},
      {dns, "GET", lease, "system-leader-election"},
      {dns, "DELETE", lease, "kube-system-service-accounts"},
      {manager, "GET", "/api/v1/pods", "kube-controller-manager"},
      {User("system:kube-scheduler", {all}), "GET", "/api/v1/pods", "kube-scheduler"},
      {node, "PUT", lease, "system-node-high"},
      {node, "PATCH", "/api/v1/nodes/n1/status", "system-node-high"},
      {node, "GET", "/api/v1/nodes/n1", "system-node-high"},
      {node, "GET", "/api/v1/nodes/n1/proxy", "system-nodes"},
      {node, "GET", "/api/v1/pods", "system-nodes"},
      {dns, "GET", "/api/v1/services", "kube-system-service-accounts"},
      {account, "GET", "/api/v1/services", "service-accounts"},
      {alice, "GET", "/api/v1/services", "global-default"},
      {alice, "GET", "/apis", "global-default"},
      {nobody, "GET", "/api/v1/services", "global-default"},
      {User("stranger", {}), "GET", "/api/v1/services", ""},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(First(c.user, Info(c.method, c.target)), c.schema)
        << c.user.name << " " << c.method << " " << c.target;
  }
}

FlowSchema Of(flowcontrol::v1::ResourcePolicyRule rule) {
  FlowSchema schema;
  flowcontrol::v1::PolicyRulesWithSubjects& rules = schema.spec.rules.emplace_back();
  rules.subjects.emplace_back().kind = "User";
  rules.subjects.back().user.emplace().name = "*";
  rules.resourceRules.push_back(std::move(rule));
  return schema;
}

TEST(FlowMatch, ResourceRulesMatchVerbGroupResourceAndNamespace) {
  const FlowSchema schema = Of({.verbs = {"get", "list"},
                                .apiGroups = {""},
                                .resources = {"pods", "pods/log"},
                                .clusterScope = false,
                                .namespaces = {"a"}});
  const struct {
    std::string_view method, target;
    bool matches;
  } kCases[] = {
      {"GET", "/api/v1/namespaces/a/pods", true},
      {"GET", "/api/v1/namespaces/a/pods/x/log", true},
      {"GET", "/api/v1/namespaces/a/pods/x/status", false},
      {"GET", "/api/v1/namespaces/a/podslog", false},
      {"GET", "/api/v1/namespaces/b/pods", false},
      {"GET", "/api/v1/pods", false},  // cluster scope
      {"DELETE", "/api/v1/namespaces/a/pods/x", false},
      {"GET", "/apis/apps/v1/namespaces/a/pods", false},
      {"GET", "/api", false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(MatchesFlowSchema(schema.spec, User("u", {}), Info(c.method, c.target)), c.matches)
        << c.method << " " << c.target;
  }
  const FlowSchema cluster = Of({.verbs = {"*"},
                                 .apiGroups = {"*"},
                                 .resources = {"*"},
                                 .clusterScope = true,
                                 .namespaces = {}});
  EXPECT_TRUE(MatchesFlowSchema(cluster.spec, User("u", {}), Info("GET", "/api/v1/pods")));
  EXPECT_FALSE(
      MatchesFlowSchema(cluster.spec, User("u", {}), Info("GET", "/api/v1/namespaces/a/pods")));
}

TEST(FlowMatch, PathsMatchExactlyOrByPrefix) {
  FlowSchema schema;
  flowcontrol::v1::PolicyRulesWithSubjects& rules = schema.spec.rules.emplace_back();
  rules.subjects.emplace_back().kind = "Group";
  rules.subjects.back().group.emplace().name = "g";
  rules.nonResourceRules.push_back({.verbs = {"get"}, .nonResourceURLs = {"/metrics", "/debug/*"}});
  const UserInfo user = User("u", {"g"});
  EXPECT_TRUE(MatchesFlowSchema(schema.spec, user, Info("GET", "/metrics")));
  EXPECT_FALSE(MatchesFlowSchema(schema.spec, user, Info("GET", "/metrics/slis")));
  EXPECT_TRUE(MatchesFlowSchema(schema.spec, user, Info("GET", "/debug/x/y")));
  EXPECT_FALSE(MatchesFlowSchema(schema.spec, user, Info("GET", "/debugger")));
  EXPECT_FALSE(MatchesFlowSchema(schema.spec, user, Info("POST", "/metrics")));
  EXPECT_FALSE(MatchesFlowSchema(schema.spec, User("u", {"h"}), Info("GET", "/metrics")));
}

TEST(FlowMatch, ServiceAccountsMatchByNameOrNamespace) {
  FlowSchema schema = Of({.verbs = {"*"},
                          .apiGroups = {"*"},
                          .resources = {"*"},
                          .clusterScope = true,
                          .namespaces = {}});
  flowcontrol::v1::Subject& subject = schema.spec.rules[0].subjects[0];
  subject.kind = "ServiceAccount";
  const RequestInfo info = Info("GET", "/api/v1/pods");
  const auto matches = [&](std::string account, std::string user) {
    subject.serviceAccount.emplace() = {.namespace_ = "team", .name = std::move(account)};
    return MatchesFlowSchema(schema.spec, User(std::move(user), {}), info);
  };
  EXPECT_TRUE(matches("app", "system:serviceaccount:team:app"));
  EXPECT_FALSE(matches("app", "system:serviceaccount:team:other"));
  EXPECT_TRUE(matches("*", "system:serviceaccount:team:other"));
  EXPECT_FALSE(matches("*", "system:serviceaccount:team2:other"));
  EXPECT_FALSE(matches("*", "team:other"));
}

TEST(FlowMatch, DistinguisherIsUserOrNamespace) {
  flowcontrol::v1::FlowSchemaSpec spec;
  const UserInfo user = User("alice", {});
  const RequestInfo info = Info("GET", "/api/v1/namespaces/a/pods");
  EXPECT_EQ(DistinguisherOf(spec, user, info), "");
  spec.distinguisherMethod.emplace().type = "ByUser";
  EXPECT_EQ(DistinguisherOf(spec, user, info), "alice");
  spec.distinguisherMethod->type = "ByNamespace";
  EXPECT_EQ(DistinguisherOf(spec, user, info), "a");
}

}  // namespace
}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/authorizer/authorizer.h"

#include <gtest/gtest.h>

#include "apiserver/filters/authz/rbac/bootstrap_policy/policy.h"
#include "apiserver/filters/authz/rbac/rbac_authorizer.h"

namespace cox::apiserver {
namespace {

RequestInfo Info(std::string_view method, std::string_view target) {
  return *ParseRequestInfo(method, target, Query());
}

UserInfo User(std::string name, std::vector<std::string> groups) {
  return {.name = std::move(name), .uid = {}, .groups = std::move(groups), .extra = {}};
}

// The bootstrap roles and bindings.
RbacIndexPtr BootstrapIndex() {
  RbacPolicy policy = BootstrapPolicy();
  RbacIndexBuilder builder;
  for (const auto& role : policy.cluster_roles) {
    builder.SetRole(RbacRoleKey("", role.metadata.name),
                    std::make_shared<const RbacRules>(role.rules));
  }
  for (auto& from : policy.cluster_role_bindings) {
    auto binding = std::make_shared<RbacBinding>();
    binding->name = from.metadata.name;
    binding->role = from.roleRef;
    binding->role_key = RbacRoleKey("", from.roleRef.name);
    binding->subjects = from.subjects;
    builder.SetBinding(from.metadata.name, std::move(binding));
  }
  return builder.Build();
}

TEST(UnionAuthorizer, BootstrapPolicyDecisions) {
  RbacAuthorizer rbac;
  rbac.Publish(BootstrapIndex());
  const UnionAuthorizer authorizer({&rbac});
  const UserInfo root = User("root", {std::string(kMastersGroup)});
  const UserInfo alice = User("alice", {std::string(kAuthenticatedGroup)});
  const UserInfo nobody = User(std::string(kAnonymousUser), {std::string(kUnauthenticatedGroup)});
  const struct {
    const UserInfo& user;
    std::string_view method, target;
    bool want;
  } kCases[] = {
      {root, "DELETE", "/api/v1/namespaces/ns/pods/p", true},
      {root, "GET", "/metrics", true},
      {alice, "GET", "/api/v1/pods", false},
      {alice, "GET", "/apis", true},
      {alice, "GET", "/apis/apps/v1", true},
      {alice, "GET", "/openapi/v3/api/v1", true},
      {alice, "GET", "/version", true},
      {alice, "GET", "/metrics", false},
      {alice, "POST", "/apis", false},
      {nobody, "GET", "/apis", false},
      {nobody, "GET", "/healthz", true},
      {nobody, "GET", "/livez", true},
      {nobody, "GET", "/readyz", true},
      {nobody, "GET", "/readyz/ping", false},
      {nobody, "GET", "/version/", true},
      {nobody, "POST", "/version", false},
      {nobody, "GET", "/", false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(authorizer.Authorize(c.user, Info(c.method, c.target)).allowed, c.want)
        << c.user.name << " " << c.method << " " << c.target;
  }
  EXPECT_TRUE(AlwaysAllow().Authorize(nobody, Info("DELETE", "/api/v1/nodes/n")).allowed);
}

TEST(ForbiddenStatus, ContainsUserVerbAndResource) {
  const UserInfo bob = User("bob", {});
  const struct {
    std::string_view method, target, reason, want;
  } kCases[] = {
      {"GET", "/api/v1/namespaces/ns/pods", "",
       "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in the "
       "namespace \"ns\""},
      {"PATCH", "/apis/apps/v1/namespaces/ns/deployments/d/scale", "",
       "deployments.apps \"d\" is forbidden: User \"bob\" cannot patch resource "
       "\"deployments/scale\" in API group \"apps\" in the namespace \"ns\""},
      {"GET", "/api/v1/nodes/n", "no roles",
       "nodes \"n\" is forbidden: User \"bob\" cannot get resource \"nodes\" in API group \"\" at "
       "the cluster scope: no roles"},
      {"POST", "/metrics", "", "forbidden: User \"bob\" cannot post path \"/metrics\""},
  };
  for (const auto& c : kCases) {
    const Status status = ForbiddenStatus(bob, Info(c.method, c.target), std::string(c.reason));
    EXPECT_EQ(status.message(), c.want);
    EXPECT_EQ(status.code(), 403);
  }
  EXPECT_EQ(
      ForbiddenStatus(bob, Info("GET", "/apis/apps/v1/namespaces/ns/deployments/d"), "").details(),
      (StatusDetails{.name = "d", .group = "apps", .kind = "deployments"}));
}

}  // namespace
}  // namespace cox::apiserver

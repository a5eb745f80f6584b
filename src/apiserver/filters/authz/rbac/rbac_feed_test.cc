// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/rbac_feed.h"

#include <gtest/gtest.h>

#include "apiserver/testing/write_harness.h"
#include "base/scope.h"

namespace cox::apiserver {
namespace {

class RbacFeedTest : public ::testing::Test {
 protected:
  RbacFeedTest() {
    EXPECT_TRUE(
        scope_
            .Go("rbac", [this](Context& ctx) { RunRbacFeed(ctx, memory_.registry(), authorizer_); })
            .ok());
  }
  ~RbacFeedTest() override {
    scope_.Stop();
    scope_.Wait();
  }

  // The feed is asynchronous, so poll until the change takes effect.
  bool Becomes(bool allowed, const std::string& user, const std::string& ns) const {
    const UserInfo who{.name = user, .uid = {}, .groups = {}, .extra = {}};
    RequestInfo ask;
    ask.is_resource = true;
    ask.verb = "get";
    ask.resource = "pods";
    ask.namespace_ = ns;
    RealClock clock;
    const Clock::SteadyTime end = clock.In(std::chrono::seconds(20));
    while (clock.Monotonic() < end) {
      if (authorizer_.ready() && authorizer_.Authorize(who, ask).allowed == allowed) return true;
      std::this_thread::yield();
    }
    return false;
  }

  WriteHarness memory_;
  RbacAuthorizer authorizer_;
  Scope scope_{memory_.ctx(), "test"};
};

TEST_F(RbacFeedTest, FollowsRolesAndBindings) {
  rbac::v1::Role role;
  role.metadata.name = "r";
  role.metadata.namespace_ = "ns";
  role.rules.push_back({.verbs = {"get"},
                        .apiGroups = {""},
                        .resources = {"pods"},
                        .resourceNames = {},
                        .nonResourceURLs = {}});
  rbac::v1::RoleBinding binding;
  binding.metadata.name = "b";
  binding.metadata.namespace_ = "ns";
  binding.roleRef = {.apiGroup = "rbac.authorization.k8s.io", .kind = "Role", .name = "r"};
  binding.subjects = {{"User", "rbac.authorization.k8s.io", "alice", ""}};
  memory_.Create(Object::Of(binding));
  EXPECT_TRUE(Becomes(false, "alice", "ns"));
  memory_.Create(Object::Of(role));
  EXPECT_TRUE(Becomes(true, "alice", "ns"));
  EXPECT_TRUE(Becomes(false, "alice", "other"));
  binding.subjects.front().name = "bob";
  EXPECT_TRUE(memory_.TryUpdate(Object::Of(binding)).ok());
  EXPECT_TRUE(Becomes(false, "alice", "ns"));
  EXPECT_TRUE(Becomes(true, "bob", "ns"));
  memory_.Delete(rbac::v1::Role::kKind, "ns", "r");
  EXPECT_TRUE(Becomes(false, "bob", "ns"));

  rbac::v1::ClusterRole everywhere;
  everywhere.metadata.name = "r";
  everywhere.rules = role.rules;
  memory_.Create(Object::Of(everywhere));
  rbac::v1::ClusterRoleBinding all;
  all.metadata.name = "b";
  all.roleRef = {.apiGroup = "rbac.authorization.k8s.io", .kind = "ClusterRole", .name = "r"};
  all.subjects = {{"User", "rbac.authorization.k8s.io", "carol", ""}};
  memory_.Create(Object::Of(all));
  EXPECT_TRUE(Becomes(true, "carol", "anywhere"));
  memory_.Delete(rbac::v1::ClusterRoleBinding::kKind, "", "b");
  EXPECT_TRUE(Becomes(false, "carol", "anywhere"));
}

}  // namespace
}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/rbac_authorizer.h"

#include <gtest/gtest.h>

#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

class RbacAuthorizerTest : public ::testing::Test {
 protected:
  void Role(const std::string& key, std::string_view rules) {
    const Result<rbac::v1::ClusterRole> role =
        json::Decode<rbac::v1::ClusterRole>(R"({"rules":)" + std::string(rules) + "}");
    ASSERT_TRUE(role.ok()) << rules;
    builder_.SetRole(key, std::make_shared<const RbacRules>(role->rules));
  }
  void Bind(const std::string& ns, const std::string& name, const std::string& role,
            const List<rbac::v1::Subject>& subjects) {
    auto binding = std::make_shared<RbacBinding>();
    binding->ns = ns;
    binding->name = name;
    const size_t slash = role.find('/');
    binding->role = {.apiGroup = {},
                     .kind = slash == 0 ? "ClusterRole" : "Role",
                     .name = role.substr(slash + 1)};
    binding->role_key = role;
    binding->subjects = subjects;
    builder_.SetBinding(ns + "/" + name, std::move(binding));
  }
  void Publish() { authorizer_.Publish(builder_.Build()); }

  static rbac::v1::Subject User(std::string name) { return {"User", {}, std::move(name), {}}; }
  static rbac::v1::Subject Group(std::string name) { return {"Group", {}, std::move(name), {}}; }
  static UserInfo Who(std::string name, std::vector<std::string> groups = {}) {
    return {.name = std::move(name), .uid = {}, .groups = std::move(groups), .extra = {}};
  }
  Decision Get(const UserInfo& user, std::string ns, std::string resource = "pods") const {
    RequestInfo ask;
    ask.is_resource = true;
    ask.verb = "get";
    ask.namespace_ = std::move(ns);
    ask.resource = std::move(resource);
    return authorizer_.Authorize(user, ask);
  }

  RbacIndexBuilder builder_;
  RbacAuthorizer authorizer_;
};

constexpr std::string_view kGetPods =
    R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])";

TEST_F(RbacAuthorizerTest, OnlyHealthIsAllowedBeforePolicyIsLoaded) {
  EXPECT_FALSE(authorizer_.ready());
  EXPECT_FALSE(Get(Who("alice"), "ns").allowed);
  for (const auto& [path, allowed] :
       {std::pair("/healthz", true), {"/readyz", true}, {"/api", false}}) {
    RequestInfo ask;
    ask.verb = "get";
    ask.path = path;
    EXPECT_EQ(authorizer_.Authorize(Who("system:anonymous"), ask).allowed, allowed) << path;
  }
  EXPECT_TRUE(authorizer_.Rules(Who("alice"), "ns").incomplete);
}

TEST_F(RbacAuthorizerTest, BindsUsersGroupsAndServiceAccounts) {
  Role("ns/reader", kGetPods);
  Bind("ns", "b", "ns/reader",
       {User("alice"),
        Group("dev"),
        {"ServiceAccount", {}, "sa", ""},
        {"ServiceAccount", {}, "sb", "other"}});
  Publish();
  EXPECT_EQ(Get(Who("alice"), "ns").reason,
            R"(RBAC: allowed by RoleBinding "b/ns" of Role "reader" to User "alice")");
  EXPECT_EQ(Get(Who("bob", {"x", "dev"}), "ns").reason,
            R"(RBAC: allowed by RoleBinding "b/ns" of Role "reader" to Group "dev")");
  EXPECT_EQ(Get(Who("system:serviceaccount:ns:sa"), "ns").reason,
            R"(RBAC: allowed by RoleBinding "b/ns" of Role "reader" to ServiceAccount "sa/ns")");
  EXPECT_TRUE(Get(Who("system:serviceaccount:other:sb"), "ns").allowed);
  EXPECT_FALSE(Get(Who("system:serviceaccount:other:sa"), "ns").allowed);
  EXPECT_FALSE(Get(Who("dev", {"alice"}), "ns").allowed) << "a group is no user";
  EXPECT_FALSE(Get(Who("alice"), "elsewhere").allowed);
  EXPECT_FALSE(Get(Who("alice"), "").allowed);
  EXPECT_FALSE(Get(Who("alice"), "ns", "secrets").allowed);
  EXPECT_EQ(Get(Who("alice"), "ns", "secrets").reason, "");
}

TEST_F(RbacAuthorizerTest, ClusterBindingsApplyInAllNamespaces) {
  Role("/reader", kGetPods);
  Bind("", "all", "/reader", {User("alice")});
  Bind("ns", "one", "/reader", {User("bob")});
  Publish();
  EXPECT_TRUE(Get(Who("alice"), "").allowed);
  EXPECT_EQ(Get(Who("alice"), "x").reason,
            R"(RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "reader" to User "alice")");
  EXPECT_TRUE(Get(Who("bob"), "ns").allowed);
  EXPECT_FALSE(Get(Who("bob"), "").allowed);
}

TEST_F(RbacAuthorizerTest, MissingRolesAreReported) {
  Bind("ns", "b", "ns/gone", {User("alice")});
  Bind("", "c", "/lost", {User("alice")});
  Publish();
  EXPECT_EQ(Get(Who("alice"), "ns").reason,
            "RBAC: [clusterrole.rbac.authorization.k8s.io \"lost\" not found, "
            "role.rbac.authorization.k8s.io \"gone\" not found]");
  Role("ns/gone", kGetPods);
  Publish();
  EXPECT_TRUE(Get(Who("alice"), "ns").allowed);
}

TEST_F(RbacAuthorizerTest, ChangesTakeEffectAndOldSnapshotsStay) {
  Role("ns/reader", kGetPods);
  Bind("ns", "b", "ns/reader", {User("alice"), User("alice"), Group("dev")});
  const RbacIndexPtr before = builder_.Build();
  Bind("ns", "b", "ns/reader", {User("bob")});
  Publish();
  EXPECT_FALSE(Get(Who("alice", {"dev"}), "ns").allowed);
  EXPECT_TRUE(Get(Who("bob"), "ns").allowed);
  builder_.SetBinding("ns/b", nullptr);
  builder_.SetBinding("ns/never", nullptr);
  Publish();
  EXPECT_FALSE(Get(Who("bob"), "ns").allowed);
  authorizer_.Publish(before);
  EXPECT_TRUE(Get(Who("alice"), "ns").allowed);
  EXPECT_FALSE(Get(Who("bob"), "ns").allowed);
  builder_.SetRole("ns/reader", nullptr);
  Bind("ns", "b", "ns/reader", {User("alice")});
  Publish();
  EXPECT_FALSE(Get(Who("alice"), "ns").allowed);
}

TEST_F(RbacAuthorizerTest, RulesAreCollectedFromAllBindings) {
  Role("/a", kGetPods);
  Role(
      "ns/b",
      R"([{"verbs":["get"],"nonResourceURLs":["/x"]},{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])");
  Bind("", "one", "/a", {Group("dev")});
  Bind("ns", "two", "ns/b", {User("alice")});
  Publish();
  EXPECT_EQ(authorizer_.Rules(Who("alice", {"dev"}), "ns").rules.size(), 3u);
  EXPECT_EQ(authorizer_.Rules(Who("alice", {"dev"}), "other").rules.size(), 1u);
  EXPECT_EQ(authorizer_.Rules(Who("alice"), "other").rules.size(), 0u);
}

TEST(UnionAuthorizerTest, AllowsMastersAndOthersByFirstAllowingMember) {
  const AlwaysDeny deny;
  const AlwaysAllow allow;
  const UserInfo alice{.name = "alice", .uid = {}, .groups = {}, .extra = {}};
  const UserInfo root{.name = "root", .uid = {}, .groups = {"system:masters"}, .extra = {}};
  EXPECT_TRUE(UnionAuthorizer({&deny}).Authorize(root, {}).allowed);
  EXPECT_FALSE(UnionAuthorizer({&deny}).Authorize(alice, {}).allowed);
  EXPECT_EQ(UnionAuthorizer({&deny, &deny}).Authorize(alice, {}).reason,
            "Everything is forbidden.\nEverything is forbidden.");
  EXPECT_TRUE(UnionAuthorizer({&deny, &allow}).Authorize(alice, {}).allowed);
  EXPECT_FALSE(UnionAuthorizer({}).Authorize(alice, {}).allowed);
}

}  // namespace
}  // namespace cox::apiserver

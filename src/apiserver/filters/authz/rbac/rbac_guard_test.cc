// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/rbac_guard.h"

#include <gtest/gtest.h>

#include "apiserver/filters/authz/rbac/rules.h"
#include "apiserver/testing/write_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

// Returns one fixed set of rules for every user.
class HeldRules final : public Authorizer {
 public:
  List<PolicyRule> rules;

  Decision Decide(const UserInfo&, const RequestInfo& request, const Selectors&) const override {
    for (const PolicyRule& rule : rules) {
      if (RuleAllows(rule, request)) return {true, {}};
    }
    return {};
  }
  UserRules Rules(const UserInfo&, std::string_view) const override {
    return {.rules = rules, .incomplete = false, .error = {}};
  }
};

class RbacGuardTest : public ::testing::Test {
 protected:
  RbacGuardTest() { guard_.Install(); }

  void Hold(std::string_view rule) { held_.rules.push_back(*json::Decode<PolicyRule>(rule)); }
  void BeAlice() {
    memory_.user() = {.name = "alice", .uid = {}, .groups = {"dev", "team-a"}, .extra = {}};
  }
  static Object Make(const KindInfo& kind, std::string_view text) {
    Object object(kind);
    EXPECT_TRUE(object.FromValue(*json::Parse(text)).ok()) << text;
    return object;
  }
  static Object RoleOf(std::string_view name, std::string_view rules) {
    return Make(rbac::v1::Role::kKind, R"({"metadata":{"namespace":"ns","name":")" +
                                           std::string(name) + R"("},"rules":)" +
                                           std::string(rules) + "}");
  }
  static Object BindingOf(std::string_view name, std::string_view kind, std::string_view role) {
    return Make(rbac::v1::RoleBinding::kKind,
                R"({"metadata":{"namespace":"ns","name":")" + std::string(name) +
                    R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":")" +
                    std::string(kind) + R"(","name":")" + std::string(role) + R"("}})");
  }
  std::string Error(Object object) {
    return memory_.TryCreate(std::move(object)).status().message();
  }

  HeldRules held_;
  WriteHarness memory_;
  RbacGuard guard_{memory_.registry(), held_, held_};
};

constexpr std::string_view kSecrets =
    R"([{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}])";
constexpr std::string_view kNotHeld =
    "is forbidden: user \"alice\" (groups=[\"dev\" \"team-a\"]) is attempting to grant RBAC "
    "permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}";

TEST_F(RbacGuardTest, RolesMayOnlyGrantHeldPermissions) {
  BeAlice();
  EXPECT_EQ(Error(RoleOf("r", kSecrets)),
            "roles.rbac.authorization.k8s.io \"r\" " + std::string(kNotHeld));
  EXPECT_EQ(Error(RoleOf("empty", "[]")), "");
  Hold(R"({"verbs":["get"],"apiGroups":["*"],"resources":["*"]})");
  EXPECT_EQ(Error(RoleOf("r", kSecrets)), "");
}

TEST_F(RbacGuardTest, EscalateVerbAllowsAnyRole) {
  BeAlice();
  Hold(R"({"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"]})");
  EXPECT_EQ(Error(RoleOf("r", kSecrets)), "");
}

TEST_F(RbacGuardTest, ChangesWithoutNewPermissionsAreAllowed) {
  memory_.Create(RoleOf("r", kSecrets));
  BeAlice();
  Object labelled = RoleOf("r", kSecrets);
  labelled.object_meta()->labels["a"] = "b";
  EXPECT_TRUE(memory_.TryUpdate(labelled).ok());
  EXPECT_TRUE(memory_.TryUpdate(RoleOf("r", "[]")).ok());
  EXPECT_TRUE(memory_.TryUpdate(RoleOf("r", kSecrets)).Is(Reason::kForbidden));
}

TEST_F(RbacGuardTest, BindingsRequirePermissionsOrBindVerb) {
  memory_.Create(RoleOf("secrets", kSecrets));
  BeAlice();
  EXPECT_EQ(Error(BindingOf("b", "Role", "secrets")),
            "rolebindings.rbac.authorization.k8s.io \"b\" " + std::string(kNotHeld));
  EXPECT_EQ(Error(BindingOf("b", "Role", "none")),
            "rolebindings.rbac.authorization.k8s.io \"none\" not found");
  Hold(R"({"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],)"
       R"("resourceNames":["secrets"]})");
  EXPECT_EQ(Error(BindingOf("b", "Role", "secrets")), "");
  EXPECT_NE(Error(BindingOf("c", "ClusterRole", "secrets")), "");
}

TEST_F(RbacGuardTest, AggregationRequiresFullPermissions) {
  BeAlice();
  auto aggregated = [] {
    return Make(rbac::v1::ClusterRole::kKind,
                R"({"metadata":{"name":"sum"},"aggregationRule":{"clusterRoleSelectors":)"
                R"([{"matchLabels":{"a":"b"}}]}})");
  };
  EXPECT_EQ(Error(aggregated()),
            "clusterroles.rbac.authorization.k8s.io \"sum\" is forbidden: must have cluster-admin "
            "privileges to use the aggregationRule");
  Hold(R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})");
  Hold(R"({"verbs":["*"],"nonResourceURLs":["*"]})");
  EXPECT_EQ(Error(aggregated()), "");
}

}  // namespace
}  // namespace cox::apiserver

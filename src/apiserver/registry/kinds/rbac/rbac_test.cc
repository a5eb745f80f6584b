// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/rbac/v1.h"
#include "apiserver/registry/kinds/rbac/strategy.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

TEST(RoleTest, RejectsIncompleteRulesAndNonResourceURLs) {
  StrategyHarness roles(NewRoleStrategy());
  const CreateCase cases[] = {
      {R"("rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}])", ""},
      {R"("rules":[])", ""},
      {R"("rules":[{}])",
       "[rules[0].verbs: Required value: verbs must contain at least one value, "
       "rules[0].apiGroups: Required value: resource rules must supply at least one api group, "
       "rules[0].resources: Required value: resource rules must supply at least one resource]"},
      {R"("rules":[{"nonResourceURLs":["/x"],"verbs":["get"]}])",
       "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to "
       "non-resource URLs"},
      {R"("rules":[{"nonResourceURLs":["/x"],"verbs":["get"],"resources":["pods"]}])",
       "[rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to "
       "non-resource URLs, rules[0].nonResourceURLs: Invalid value: [\"/x\"]: rules cannot apply "
       "to "
       "both regular resources and non-resource URLs]"},
  };
  ExpectCreate(roles, cases);
}

TEST(RoleTest, NameMustBePathSegment) {
  StrategyHarness roles(NewRoleStrategy());
  EXPECT_EQ(roles.Create(R"({"metadata":{"name":"system:x"}})").error, "");
  EXPECT_EQ(roles.Create(R"({"metadata":{"name":"a/b"}})").error,
            "metadata.name: Invalid value: \"a/b\": may not contain '/'");
}

TEST(ClusterRoleTest, ValidatesAggregationSelectors) {
  StrategyHarness roles(NewClusterRoleStrategy());
  const CreateCase cases[] = {
      {R"("rules":[{"nonResourceURLs":["/x"],"verbs":["get"]}])", ""},
      {R"("aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]})", ""},
      {R"("aggregationRule":{})",
       "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector "
       "required if aggregationRule is non-nil"},
  };
  ExpectCreate(roles, cases);
  std::string error = roles
                          .Create(R"({"metadata":{"name":"a"},"aggregationRule":
                      {"clusterRoleSelectors":[{"matchLabels":{"a b":"c"}}]}})")
                          .error;
  EXPECT_TRUE(error.ends_with(
      "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.]"))
      << error;
}

TEST(RoleBindingTest, DefaultsApiGroup) {
  StrategyHarness bindings(NewRoleBindingStrategy());
  auto made = bindings.Create(R"({"metadata":{"name":"a"},"roleRef":{"kind":"Role","name":"r"},
      "subjects":[{"kind":"User","name":"u"},{"kind":"ServiceAccount","name":"s"}]})");
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.Text(),
            R"({"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},)"
            R"("subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"u"},)"
            R"({"kind":"ServiceAccount","name":"s"}]})");
  EXPECT_EQ(bindings.Row(made.object), R"(["a","Role/r","60m","u","","/s"])");
}

TEST(RoleBindingTest, ValidatesRoleRefAndSubjects) {
  StrategyHarness bindings(NewRoleBindingStrategy());
  const CreateCase cases[] = {
      {"",
       "[roleRef.kind: Unsupported value: \"\": supported values: \"Role\", \"ClusterRole\", "
       "roleRef.name: Required value]"},
      {R"("roleRef":{"apiGroup":"x","kind":"Role","name":"a/b"})",
       "[roleRef.apiGroup: Unsupported value: \"x\": supported values: "
       "\"rbac.authorization.k8s.io\", roleRef.name: Invalid value: \"a/b\": may not contain '/']"},
      {R"("roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"X","name":"u"}])",
       "subjects[0].kind: Unsupported value: \"X\": supported values: \"ServiceAccount\", "
       "\"User\", \"Group\""},
      {R"("roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"Group"}])",
       "subjects[0].name: Required value"},
      {R"("roleRef":{"kind":"Role","name":"r"},
          "subjects":[{"kind":"ServiceAccount","name":"a","apiGroup":"y"}])",
       "subjects[0].apiGroup: Unsupported value: \"y\": supported values: \"\""},
  };
  ExpectCreate(bindings, cases);
}

TEST(RoleBindingTest, RoleRefIsImmutable) {
  StrategyHarness bindings(NewRoleBindingStrategy());
  auto old = bindings.Create(R"({"metadata":{"name":"a","resourceVersion":"1"},
                                 "roleRef":{"kind":"ClusterRole","name":"view"}})");
  EXPECT_EQ(bindings.Update(old.object, R"({"roleRef":{"name":"edit"}})").error,
            "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":"
            "\"ClusterRole\",\"Name\":\"edit\"}: cannot change roleRef");
  EXPECT_EQ(bindings.Update(old.object, R"({"subjects":[{"kind":"User","name":"x"}]})").error, "");
}

TEST(ClusterRoleBindingTest, RequiresClusterRoleAndNamespacedServiceAccounts) {
  StrategyHarness bindings(NewClusterRoleBindingStrategy());
  const CreateCase cases[] = {
      {R"("roleRef":{"kind":"Role","name":"r"})",
       "roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\""},
      {R"("roleRef":{"kind":"ClusterRole","name":"r"},
          "subjects":[{"kind":"ServiceAccount","name":"a"}])",
       "subjects[0].namespace: Required value"},
  };
  ExpectCreate(bindings, cases);
}

}  // namespace
}  // namespace cox::apiserver

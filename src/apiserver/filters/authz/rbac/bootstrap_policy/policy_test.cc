// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/bootstrap_policy/policy.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"
#include "tests/paths/paths.h"

namespace cox::apiserver {
namespace {

const std::filesystem::path kReference =
    std::filesystem::path(test::SharedDirectory()) / "data" / "rbac";

// The objects of a reference file by name, as JSON.
template <class T>
std::map<std::string, std::string> Recorded(const char* file) {
  std::ifstream in(kReference / file);
  std::ostringstream text;
  text << in.rdbuf();
  Result<Value> list = yaml::Parse(text.str());
  EXPECT_TRUE(list.ok()) << file;
  std::map<std::string, std::string> objects;
  if (!list.ok()) return objects;
  auto add = [&](const Value& item) {
    Result<T> object = json::FromValue<T>(item);
    EXPECT_TRUE(object.ok()) << file << ": " << object.status().message();
    objects[object->metadata.namespace_ + "/" + object->metadata.name] = json::Encode(*object);
  };
  for (const Value& item : list->At({"items"})->as_array()) {
    if (const Value* nested = item.At({"items"})) {
      for (const Value& each : nested->as_array()) add(each);
    } else {
      add(item);
    }
  }
  return objects;
}

template <class T>
std::map<std::string, std::string> Ours(const List<T>& objects) {
  std::map<std::string, std::string> result;
  for (const T& object : objects) {
    result[object.metadata.namespace_ + "/" + object.metadata.name] = json::Encode(object);
  }
  return result;
}

TEST(BootstrapPolicyTest, EqualsReference) {
  if (!std::filesystem::exists(kReference)) GTEST_SKIP() << "no reference data: " << kReference;
  const RbacPolicy policy = BootstrapPolicy();
  auto roles = Recorded<rbac::v1::ClusterRole>("cluster-roles.yaml");
  roles.merge(Recorded<rbac::v1::ClusterRole>("controller-roles.yaml"));
  EXPECT_EQ(Ours(policy.cluster_roles), roles);
  auto bindings = Recorded<rbac::v1::ClusterRoleBinding>("cluster-role-bindings.yaml");
  bindings.merge(Recorded<rbac::v1::ClusterRoleBinding>("controller-role-bindings.yaml"));
  EXPECT_EQ(Ours(policy.cluster_role_bindings), bindings);
  EXPECT_EQ(Ours(policy.roles), Recorded<rbac::v1::Role>("namespace-roles.yaml"));
  EXPECT_EQ(Ours(policy.role_bindings),
            Recorded<rbac::v1::RoleBinding>("namespace-role-bindings.yaml"));
}

TEST(BootstrapPolicyTest, ParsesRulesSubjectsAndContinuationLines) {
  RbacPolicy policy;
  const Status parsed = ParsePolicy(
      "role viewer part-of=admin\n"
      "  get,list core,apps:pods,\n"
      "      deployments [web]\n"
      "  get /healthz,/livez\n"
      "bind team/viewers role=viewer\n"
      "  group:g\n"
      "  serviceaccount:ns/sa\n",
      &policy);
  ASSERT_TRUE(parsed.ok()) << parsed.message();
  ASSERT_EQ(policy.cluster_roles.size(), 1u);
  const rbac::v1::ClusterRole& role = policy.cluster_roles[0];
  ASSERT_EQ(role.rules.size(), 2u);
  EXPECT_EQ(json::Encode(role.rules[0]),
            R"({"verbs":["get","list"],"apiGroups":["","apps"],"resources":["pods","deployments"],)"
            R"("resourceNames":["web"]})");
  EXPECT_EQ(role.rules[1].nonResourceURLs, (std::vector<std::string>{"/healthz", "/livez"}));
  EXPECT_NE(role.metadata.labels.Get("rbac.authorization.k8s.io/aggregate-to-admin"), nullptr);
  ASSERT_EQ(policy.role_bindings.size(), 1u);
  EXPECT_EQ(policy.role_bindings[0].roleRef.name, "viewer");
  EXPECT_EQ(policy.role_bindings[0].metadata.namespace_, "team");
  ASSERT_EQ(policy.role_bindings[0].subjects.size(), 2u);
  EXPECT_EQ(policy.role_bindings[0].subjects[1].namespace_, "ns");
}

TEST(BootstrapPolicyTest, ErrorNamesInvalidLine) {
  for (const char* text : {"rule x\n", "role\n", "role x more=1\n", "role x\n  get\n",
                           "role x\n  get core:pods (web)\n", "  get core:pods\n", "bind x to=y\n",
                           "bind x\n  robot:r2\n", "bind x\n  serviceaccount:a\n"}) {
    RbacPolicy policy;
    const Status parsed = ParsePolicy(text, &policy);
    EXPECT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.message().find("policy line \""), std::string::npos) << parsed.message();
  }
}

}  // namespace
}  // namespace cox::apiserver

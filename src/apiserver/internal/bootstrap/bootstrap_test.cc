// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/bootstrap/bootstrap.h"

#include "api/apiregistration/v1.h"
#include "api/core/v1.h"
#include "api/flowcontrol/v1.h"
#include "api/rbac/v1.h"
#include "api/scheduling/v1.h"
#include "apiserver/registry/kinds/core/service/alloc/service_allocation.h"
#include "apiserver/registry/store/names.h"
#include "apiserver/testing/write_harness.h"
#include "base/random.h"

namespace cox::apiserver {
namespace {

using flowcontrol::v1::FlowSchema;
using rbac::v1::ClusterRole;
using rbac::v1::ClusterRoleBinding;

class BootstrapTest : public ::testing::Test, protected WriteHarness {
 protected:
  void SetUp() override {
    ASSERT_TRUE(addresses_.Start(ctx(), NowOf(ctx())).ok());
    registry().Hub(core::v1::Service::kKind).store().set_hooks(&addresses_);
  }

  // Runs the bootstrap of a starting server, and syncs the caches.
  void Start() {
    const Status written = WriteBootstrapObjects(
        ctx(), registry(), {.service_cluster_ip_range = "10.96.0.0/16", .port = 6443});
    ASSERT_TRUE(written.ok()) << written.message();
    SyncAll();
  }

 private:
  ServiceAllocation addresses_{
      ServiceStores::All(store()),
      {.cluster_ip_ranges = {"10.96.0.0/16"}, .node_ports = {}, .random = RandomBelow}};
};

TEST_F(BootstrapTest, WritesObjectsOfEveryCluster) {
  Start();
  EXPECT_EQ(Read<core::v1::Namespace>("kube-system").status.phase, "Active");
  EXPECT_EQ(Read<scheduling::v1::PriorityClass>("system-node-critical").value, 2'000'001'000);
  EXPECT_EQ(Read<ClusterRoleBinding>("cluster-admin").subjects.at(0).name, "system:masters");
  EXPECT_EQ(Read<FlowSchema>("probes").spec.matchingPrecedence, 2);
  EXPECT_EQ(Read<apiregistration::v1::APIService>("v1.apps").status.conditions.at(0).reason,
            "Local");
  const auto service = Read<core::v1::Service>("kubernetes", "default");
  EXPECT_EQ(service.spec.clusterIP, "10.96.0.1");
  EXPECT_EQ(service.metadata.managedFields.at(0).manager, "kube-apiserver");
}

TEST_F(BootstrapTest, SecondStartWritesNothing) {
  Start();
  const storage::Revision before = Revision();
  Start();
  EXPECT_EQ(Revision(), before);
}

TEST_F(BootstrapTest, AddsMissingRulesAndKeepsAddedOnes) {
  Start();
  ASSERT_TRUE(TryChange<ClusterRole>("system:basic-user", [](ClusterRole& role) {
                role.rules.erase(role.rules.begin());
                role.rules.push_back({.verbs = {"get"}, .nonResourceURLs = {"/mine"}});
              }).ok());
  ASSERT_TRUE(TryChange<ClusterRoleBinding>("system:monitoring", [](ClusterRoleBinding& binding) {
                binding.subjects = {
                    {.kind = "User", .apiGroup = "rbac.authorization.k8s.io", .name = "mine"}};
              }).ok());
  SyncAll();
  Start();
  const ClusterRole role = Read<ClusterRole>("system:basic-user");
  ASSERT_EQ(role.rules.size(), 3u);
  EXPECT_EQ(role.rules[1].nonResourceURLs, std::vector<std::string>{"/mine"});
  EXPECT_EQ(role.rules[2].resources[0], "selfsubjectaccessreviews");
  const ClusterRoleBinding binding = Read<ClusterRoleBinding>("system:monitoring");
  ASSERT_EQ(binding.subjects.size(), 2u);
  EXPECT_EQ(binding.subjects[0].name, "mine");
}

TEST_F(BootstrapTest, RespectsAutoupdateFalseOnRoles) {
  Start();
  ASSERT_TRUE(TryChange<ClusterRole>("system:basic-user", [](ClusterRole& role) {
                role.metadata.annotations["rbac.authorization.kubernetes.io/autoupdate"] = "false";
                role.rules.clear();
              }).ok());
  SyncAll();
  Start();
  EXPECT_TRUE(Read<ClusterRole>("system:basic-user").rules.empty());
}

TEST_F(BootstrapTest, ResetsFlowControlUnlessAutoupdateIsFalse) {
  Start();
  ASSERT_TRUE(TryChange<FlowSchema>("service-accounts", [](FlowSchema& schema) {
                schema.spec.matchingPrecedence = 7;
              }).ok());
  ASSERT_TRUE(TryChange<FlowSchema>("global-default", [](FlowSchema& schema) {
                schema.metadata.annotations["apf.kubernetes.io/autoupdate-spec"] = "false";
                schema.spec.matchingPrecedence = 8;
              }).ok());
  SyncAll();
  Start();
  EXPECT_EQ(Read<FlowSchema>("service-accounts").spec.matchingPrecedence, 9000);
  EXPECT_EQ(Read<FlowSchema>("global-default").spec.matchingPrecedence, 8);
}

}  // namespace
}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

TEST(NodeTest, AlignsPodCIDRsAndDefaultsAllocatable) {
  StrategyHarness nodes(NewNodeStrategy());
  auto made = nodes.Create(R"({"metadata":{"name":"a"},"spec":{"podCIDR":"10.0.0.0/24"},
                               "status":{"capacity":{"cpu":"4"}}})");
  EXPECT_EQ(made.error, "");
  const auto& node = *made.object.As<core::v1::Node>();
  EXPECT_EQ(node.spec.podCIDRs, std::vector<std::string>{"10.0.0.0/24"});
  ASSERT_NE(node.status.allocatable.Get("cpu"), nullptr);
  EXPECT_EQ(node.status.allocatable.Get("cpu")->ToString(), "4");
}

TEST(NodeTest, ValidatesTaintsAddressesAndAnnotations) {
  StrategyHarness nodes(NewNodeStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"taints":[{"key":"a","effect":"X"}]})",
       "metadata.taints[0].effect: Unsupported value: \"X\": supported values: \"NoSchedule\", "
       "\"PreferNoSchedule\", \"NoExecute\""},
      {R"("spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"}]})",
       "metadata.taints[1]: Duplicate value: {\"Key\":\"a\",\"Value\":\"\",\"Effect\":"
       "\"NoSchedule\",\"TimeAdded\":null}: taints must be unique by key and effect pair"},
      {R"("spec":{"podCIDR":"x"})",
       "spec.podCIDRs[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
       "2001:db8::/64)"},
      {R"("spec":{"podCIDRs":["10.0.0.0/24","10.0.1.0/24"]})",
       "spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"10.0.1.0/24\"]: may specify no more than "
       "one CIDR for each IP family"},
      {R"("spec":{"podCIDRs":["10.0.0.0/24","fd00::/64"]})", ""},
      {R"("status":{"capacity":{"pods":"1500m"},"allocatable":{"cpu":"1"}})",
       "status.capacity.pods: Invalid value: \"1500m\": must be an integer"},
  };
  ExpectCreate(nodes, cases);
  EXPECT_EQ(nodes
                .Create(R"({"metadata":{"name":"a","annotations":
                        {"scheduler.alpha.kubernetes.io/preferAvoidPods":"x"}}})")
                .error,
            "metadata.annotations.AvoidPods: Invalid value: "
            "\"scheduler.alpha.kubernetes.io/preferAvoidPods\": invalid character 'x' looking for "
            "beginning of value");
}

TEST(NodeTest, PodCIDRAndProviderIDAreImmutable) {
  StrategyHarness nodes(NewNodeStrategy());
  Object old = nodes
                   .Create(R"({"metadata":{"name":"a"},
                                "spec":{"podCIDR":"10.60.0.0/24","providerID":"a://b"}})")
                   .object;
  EXPECT_EQ(nodes.Update(old, R"({"spec":{"podCIDR":"10.61.0.0/24"}})").error,
            "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to "
            "valid");
  EXPECT_EQ(
      nodes.Update(old, R"({"spec":{"providerID":"c://d"}})").error,
      "spec.providerID: Forbidden: node updates may not change providerID except from \"\" to "
      "valid");
  EXPECT_EQ(nodes.Update(old, R"({"spec":{"externalID":"z"}})").error,
            "spec.externalID: Forbidden: may not be updated");
  EXPECT_EQ(nodes.Update(old, R"({"spec":{"unschedulable":true}})").error, "");
}

TEST(NodeTest, SpecAndStatusUpdatesAreSeparate) {
  StrategyHarness nodes(NewNodeStrategy());
  Object old = nodes.Create(R"({"metadata":{"name":"a"}})").object;
  constexpr std::string_view kPatch =
      R"({"spec":{"unschedulable":true},"status":{"phase":"Running"}})";
  auto by_main = nodes.Update(old, kPatch), by_status = nodes.Update(old, kPatch, "status");
  EXPECT_TRUE(by_main.object.As<core::v1::Node>()->spec.unschedulable);
  EXPECT_EQ(by_main.object.As<core::v1::Node>()->status.phase, "");
  EXPECT_FALSE(by_status.object.As<core::v1::Node>()->spec.unschedulable);
  EXPECT_EQ(by_status.object.As<core::v1::Node>()->status.phase, "Running");
}

TEST(NodeTest, ShowsStatusInTable) {
  StrategyHarness nodes(NewNodeStrategy());
  EXPECT_EQ(nodes.Row(nodes.Create(R"({"metadata":{"name":"a"}})").object),
            R"(["a","Unknown","\u003cnone\u003e","60m","","\u003cnone\u003e","\u003cnone\u003e",)"
            R"("\u003cunknown\u003e","\u003cunknown\u003e","\u003cunknown\u003e"])");
  auto made = nodes.Create(R"({"metadata":{"name":"a","labels":{"kubernetes.io/role":"x",
      "node-role.kubernetes.io/control-plane":""}},"spec":{"unschedulable":true},
      "status":{"conditions":[{"type":"Ready","status":"True"}],
      "addresses":[{"type":"InternalIP","address":"10.0.0.5"}],
      "nodeInfo":{"kubeletVersion":"v1","osImage":"L","kernelVersion":"6.1","architecture":"amd64",
                  "containerRuntimeVersion":"c://2"}}})");
  EXPECT_EQ(nodes.Row(made.object),
            R"(["a","Ready,SchedulingDisabled","control-plane,x","60m","v1","10.0.0.5",)"
            R"x("\u003cnone\u003e","L","6.1 (amd64)","c://2"])x");
}

}  // namespace
}  // namespace cox::apiserver

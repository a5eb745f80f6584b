// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/topology/zone_capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::controllers {
namespace {

using core::v1::Node;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Node ReadyNode(const std::string& name, const std::string& zone, const std::string& cpu) {
  Node node;
  node.metadata.name = name;
  if (!zone.empty()) node.metadata.labels["topology.kubernetes.io/zone"] = zone;
  if (!cpu.empty()) node.status.allocatable["cpu"] = *Quantity::Parse(cpu);
  node.status.conditions = {{.type = "Ready", .status = "True"}};
  return node;
}

TEST(ZoneCapacity, SumsCpuOfReadyNodesByZone) {
  ZoneCapacity capacity;
  EXPECT_TRUE(capacity.Set(ReadyNode("a1", "a", "2")));
  EXPECT_TRUE(capacity.Set(ReadyNode("a2", "a", "500m")));
  EXPECT_TRUE(capacity.Set(ReadyNode("b1", "b", "4")));
  EXPECT_THAT(capacity.cpus().millis, ElementsAre(Pair("a", 2500), Pair("b", 4000)));
  EXPECT_EQ(capacity.cpus().total, 6500);
  EXPECT_FALSE(capacity.Set(ReadyNode("b1", "b", "4")));
}

TEST(ZoneCapacity, UnreadyAndControlPlaneNodesDoNotCount) {
  ZoneCapacity capacity;
  Node unready = ReadyNode("n", "a", "1");
  unready.status.conditions[0].status = "Unknown";
  EXPECT_FALSE(capacity.Set(unready));
  unready.status.conditions.clear();
  EXPECT_FALSE(capacity.Set(unready));
  for (const char* role :
       {"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}) {
    Node server = ReadyNode("c", "", "");
    server.metadata.labels[role] = "";
    EXPECT_FALSE(capacity.Set(server)) << role;
  }
  EXPECT_EQ(capacity.cpus(), ZoneCpus());
}

TEST(ZoneCapacity, ReadyNodesWithoutZoneOrCpuAreIncomplete) {
  for (const Node& node : {ReadyNode("n", "", "1"), ReadyNode("n", "a", ""),
                           ReadyNode("n", "a", "0"), ReadyNode("n", "", "")}) {
    ZoneCapacity capacity;
    EXPECT_TRUE(capacity.Set(node));
    EXPECT_EQ(capacity.cpus().incomplete_nodes, 1U);
    EXPECT_THAT(capacity.cpus().millis, IsEmpty());
    EXPECT_TRUE(capacity.Set(ReadyNode("n", "a", "1")));
    EXPECT_EQ(capacity.cpus().incomplete_nodes, 0U);
    EXPECT_TRUE(capacity.Set(node));
    EXPECT_TRUE(capacity.Remove("n"));
    EXPECT_EQ(capacity.cpus(), ZoneCpus());
  }
}

TEST(ZoneCapacity, FollowsEachChangeOfANode) {
  ZoneCapacity capacity;
  capacity.Set(ReadyNode("n", "a", "1"));
  capacity.Set(ReadyNode("n", "b", "1"));  // moved
  EXPECT_THAT(capacity.cpus().millis, ElementsAre(Pair("b", 1000)));
  capacity.Set(ReadyNode("n", "b", "3"));  // resized
  EXPECT_THAT(capacity.cpus().millis, ElementsAre(Pair("b", 3000)));
  Node unready = ReadyNode("n", "b", "3");
  unready.status.conditions[0].status = "False";
  EXPECT_TRUE(capacity.Set(unready));
  EXPECT_THAT(capacity.cpus().millis, IsEmpty());
  EXPECT_FALSE(capacity.Remove("n"));
  capacity.Set(ReadyNode("n", "b", "3"));
  EXPECT_TRUE(capacity.Remove("n"));
  EXPECT_FALSE(capacity.Remove("n"));
  EXPECT_EQ(capacity.cpus(), ZoneCpus());
}

}  // namespace
}  // namespace cox::controllers

// SPDX-License-Identifier: Apache-2.0
#include "simulate/node_life.h"

#include <gtest/gtest.h>

#include "coxswain/conditions.h"

namespace cox::simulate {
namespace {

using std::chrono::seconds;

const Clock::WallTime kNow{seconds(1'900'000'000)};

TEST(NodeLife, NamesContainNumbers) {
  const Options options{.nodes = 12};
  EXPECT_EQ(NodeName(options, 3), "sim-3");
  EXPECT_EQ(NodeNumber(options, "sim-11"), 11);
  for (const char* other : {"sim-12", "sim-", "sim-01", "sim--1", "sim-1x", "node-1", ""}) {
    EXPECT_FALSE(NodeNumber(options, other)) << other;
  }
}

TEST(NodeLife, NewNodeIsReadyWithCapacity) {
  Options options{.nodes = 12, .pods_per_node = 99, .cpu = "7"};
  options.labels["pool"] = "blue";
  const core::v1::Node node = MakeNode(options, 4, kNow);
  EXPECT_TRUE(IsTrue(node.status.conditions, "Ready"));
  EXPECT_EQ(node.status.allocatable.find("pods")->second, Quantity(99));
  EXPECT_EQ(node.status.capacity.find("cpu")->second, Quantity(7));
  EXPECT_EQ(node.metadata.labels.find("kubernetes.io/hostname")->second, "sim-4");
  EXPECT_EQ(node.metadata.labels.find("topology.kubernetes.io/zone")->second, "zone-1");
  EXPECT_EQ(node.metadata.labels.find("pool")->second, "blue");
  EXPECT_EQ(node.status.addresses[0].address, "100.64.0.5");
}

TEST(NodeLife, StatusIsDueWhenOldOrNotReady) {
  const Options options{.nodes = 1};
  core::v1::Node node = MakeNode(options, 0, kNow);
  EXPECT_FALSE(NextHeartbeat(node, options, kNow + seconds(299)).now);
  EXPECT_EQ(NextHeartbeat(node, options, kNow + seconds(299)).again, seconds(1));
  EXPECT_TRUE(NextHeartbeat(node, options, kNow + seconds(300)).now);
  FindCondition(node.status.conditions, "Ready")->status = "Unknown";
  EXPECT_TRUE(NextHeartbeat(node, options, kNow).now);
  node.status = {};
  EXPECT_TRUE(NextHeartbeat(node, options, kNow).now);
}

TEST(NodeLife, AnnotationSilencesNode) {
  core::v1::Node node;
  EXPECT_FALSE(IsSilenced(node));
  node.metadata.annotations[std::string(kFail)] = "true";
  EXPECT_TRUE(IsSilenced(node));
  node.metadata.annotations[std::string(kFail)] = "false";
  EXPECT_FALSE(IsSilenced(node));
}

TEST(NodeLife, RenewalsAreSpreadOverThePeriod) {
  const Options options{.nodes = 10};
  std::set<int64_t> moments;
  for (int number = 0; number < 10; ++number) {
    const Clock::Duration wait = UntilRenewal(options, number, kNow);
    EXPECT_GT(wait, Clock::Duration());
    EXPECT_LE(wait, seconds(10));
    moments.insert(wait.count());
    // The following renewal is one period later.
    EXPECT_EQ(UntilRenewal(options, number, kNow + wait), seconds(10));
  }
  EXPECT_EQ(moments.size(), 10U);
}

TEST(NodeLife, LeaseHasOwnerReferenceToNode) {
  core::v1::Node node;
  node.metadata.name = "sim-0";
  node.metadata.uid = "u";
  const auto lease = MakeLease({.lease_duration = seconds(60)}, node, kNow);
  EXPECT_EQ(lease.metadata.namespace_, "kube-node-lease");
  EXPECT_EQ(lease.metadata.name, "sim-0");
  EXPECT_EQ(lease.metadata.ownerReferences.at(0).uid, "u");
  EXPECT_EQ(lease.spec.leaseDurationSeconds, 60);
  EXPECT_EQ(lease.spec.renewTime->unix_seconds(), 1'900'000'000);
}

}  // namespace
}  // namespace cox::simulate

// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "scheduler/testing/test_objects.h"

namespace cox::scheduler {
namespace {

using testing::ElementsAre;

class SnapshotTest : public testing::Test {
 protected:
  NodeIndex At(const std::string& name) {
    return static_cast<NodeIndex>(nodes.snapshot.Find(name));
  }
  core::v1::Node InZone(const std::string& name, const std::string& zone) {
    core::v1::Node node = TestNode(name);
    node.metadata.labels["topology.kubernetes.io/zone"] = zone;
    return node;
  }
  std::vector<std::string> Order() {
    std::vector<std::string> names;
    for (const NodeIndex node : nodes.Take().order()) names.push_back(nodes.snapshot.name(node));
    return names;
  }

  TestClock clock;
  TestSnapshot nodes{clock};
};

TEST_F(SnapshotTest, OrderInterleavesZones) {
  nodes.Add(InZone("a1", "a")).Add(InZone("a2", "a")).Add(InZone("a3", "a"));
  nodes.Add(InZone("b1", "b")).Add(InZone("c1", "c")).Add(InZone("c2", "c"));
  EXPECT_THAT(Order(), ElementsAre("a1", "b1", "c1", "a2", "c2", "a3"));
  nodes.cache.RemoveNode("b1");
  EXPECT_THAT(Order(), ElementsAre("a1", "c1", "a2", "c2", "a3"));
}

TEST_F(SnapshotTest, EpochChangesWithGlobalChanges) {
  nodes.Add(TestNode("n1")).Add(TestNode("n2"));
  uint64_t epoch = nodes.Take().epoch();
  nodes.Add(TestPod("p", "1"), "n1");
  EXPECT_EQ(nodes.Take().epoch(), epoch);
  core::v1::Node changed = TestNode("n1", "16");
  changed.spec.unschedulable = true;
  nodes.Add(changed);
  EXPECT_EQ(nodes.Take().epoch(), epoch);
  EXPECT_TRUE(nodes.snapshot.unschedulable(At("n1")));
  auto& image = changed.status.images.emplace_back();
  image.names = {"nginx:latest"};
  image.sizeBytes = 100;
  nodes.Add(changed);
  EXPECT_GT(nodes.Take().epoch(), epoch);
  epoch = nodes.snapshot.epoch();
  nodes.Add(TestNode("n3"));
  EXPECT_GT(nodes.Take().epoch(), epoch);
}

TEST_F(SnapshotTest, LabelColumnsFollowNodeUpdates) {
  nodes.Add(InZone("a1", "a")).Add(TestNode("none"));
  const Snapshot& snapshot = nodes.Take();
  LabelColumn& zone = snapshot.LabelColumnOf("topology.kubernetes.io/zone");
  EXPECT_EQ(zone.Text(zone.at(At("a1"))), "a");
  EXPECT_EQ(zone.at(At("none")), LabelColumn::kAbsent);
  nodes.Add(InZone("none", "b"));
  nodes.Take();
  EXPECT_EQ(zone.Text(zone.at(At("none"))), "b");
  nodes.Add(InZone("none", "a"));
  nodes.Take();
  EXPECT_EQ(zone.at(At("none")), zone.at(At("a1")));
}

TEST_F(SnapshotTest, EqualTaintsShareOneSet) {
  core::v1::Node tainted = TestNode("n1");
  tainted.spec.taints = {TestTaint("k", "v", "NoSchedule")};
  core::v1::Node other = TestNode("n2");
  other.spec.taints = tainted.spec.taints;
  other.spec.taints[0].timeAdded = Time::FromUnix(5);
  nodes.Add(tainted).Add(other).Add(TestNode("n3"));
  const Snapshot& snapshot = nodes.Take();
  EXPECT_EQ(snapshot.taint_set(At("n1")), snapshot.taint_set(At("n2")));
  EXPECT_NE(snapshot.taint_set(At("n1")), snapshot.taint_set(At("n3")));
  EXPECT_TRUE(snapshot.taints(snapshot.taint_set(At("n3"))).empty());
}

TEST_F(SnapshotTest, ExtendedResourcesHaveColumns) {
  core::v1::Node gpu = TestNode("gpu");
  gpu.status.allocatable["example.com/gpu"] = Q("4");
  core::v1::Pod user = TestPod("p");
  user.spec.containers[0].resources.requests["example.com/gpu"] = Q("1");
  nodes.Add(gpu).Add(TestNode("plain")).Add(user, "gpu");
  const Snapshot& snapshot = nodes.Take();
  EXPECT_EQ(snapshot.extended("example.com/gpu").free(At("gpu")), 3);
  EXPECT_EQ(snapshot.extended("example.com/gpu").free(At("plain")), 0);
  EXPECT_EQ(snapshot.extended("example.com/none").free(At("gpu")), 0);
}

TEST_F(SnapshotTest, ImagesListTheirNodes) {
  core::v1::Node has = TestNode("has");
  auto& image = has.status.images.emplace_back();
  image.names = {"nginx:latest", "nginx@sha256:abc"};
  image.sizeBytes = 100;
  nodes.Add(has).Add(TestNode("not"));
  const Images::Image* nginx = nodes.Take().images().Find("nginx:latest");
  ASSERT_NE(nginx, nullptr);
  EXPECT_EQ(nginx->nodes, 1U);
  EXPECT_TRUE(nginx->On(At("has")));
  EXPECT_FALSE(nginx->On(At("not")));
  nodes.Add(TestNode("has"));
  EXPECT_EQ(nodes.Take().images().Find("nginx:latest"), nullptr);
}

TEST(ImageNameTest, MissingTagMeansLatest) {
  EXPECT_EQ(NormalizedImageName("nginx"), "nginx:latest");
  EXPECT_EQ(NormalizedImageName("nginx:1.2"), "nginx:1.2");
  EXPECT_EQ(NormalizedImageName("registry:5000/nginx"), "registry:5000/nginx:latest");
  EXPECT_EQ(NormalizedImageName("registry:5000/nginx:1"), "registry:5000/nginx:1");
}

}  // namespace
}  // namespace cox::scheduler

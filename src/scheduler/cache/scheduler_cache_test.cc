// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/scheduler_cache.h"

#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "scheduler/testing/test_objects.h"

namespace cox::scheduler {
namespace {

using std::chrono::seconds;

class SchedulerCacheTest : public testing::Test {
 protected:
  void SetUp() override { cache.SetNode(Share(TestNode("n1"))); }
  int64_t Cpu(const std::string& node = "n1") {
    cache.UpdateSnapshot(snapshot);
    return snapshot.cpu().requested[static_cast<NodeIndex>(snapshot.Find(node))];
  }

  TestClock clock;
  SchedulerCache cache{clock, seconds(30)};
  Snapshot snapshot;
};

TEST_F(SchedulerCacheTest, AssumedPodsCountImmediately) {
  EXPECT_TRUE(cache.Assume(*Info(TestPod("p", "1")), "n1"));
  EXPECT_TRUE(cache.IsAssumed("uid-p"));
  EXPECT_EQ(Cpu(), 1000);
  EXPECT_FALSE(cache.Assume(*Info(TestPod("p", "1")), "n1"));
  EXPECT_EQ(Cpu(), 1000);
}

TEST_F(SchedulerCacheTest, ForgetRemovesAssumedPod) {
  ASSERT_TRUE(cache.Assume(*Info(TestPod("p", "1")), "n1"));
  cache.Forget("uid-p");
  EXPECT_EQ(Cpu(), 0);
  EXPECT_FALSE(cache.IsAssumed("uid-p"));
}

TEST_F(SchedulerCacheTest, PodSeenByInformerIsNotForgotten) {
  ASSERT_TRUE(cache.Assume(*Info(TestPod("p", "1")), "n1"));
  EXPECT_NE(cache.SetPod(*On(TestPod("p", "1"), "n1")), nullptr);
  cache.Forget("uid-p");
  EXPECT_EQ(Cpu(), 1000);
}

TEST_F(SchedulerCacheTest, InformerOverridesAssumedNode) {
  cache.SetNode(Share(TestNode("n2")));
  ASSERT_TRUE(cache.Assume(*Info(TestPod("p", "1")), "n1"));
  (void)cache.SetPod(*On(TestPod("p", "1"), "n2"));
  EXPECT_EQ(Cpu("n1"), 0);
  EXPECT_EQ(Cpu("n2"), 1000);
}

TEST_F(SchedulerCacheTest, AssumedPodsExpireAfterBinding) {
  ASSERT_TRUE(cache.Assume(*Info(TestPod("p", "1")), "n1"));
  clock.Advance(seconds(60));
  EXPECT_EQ(cache.DropExpired(), 0U);  // the binding is in progress
  cache.FinishBinding("uid-p");
  clock.Advance(seconds(29));
  EXPECT_EQ(cache.DropExpired(), 0U);
  clock.Advance(seconds(1));
  EXPECT_EQ(cache.DropExpired(), 1U);
  EXPECT_EQ(Cpu(), 0);
}

TEST_F(SchedulerCacheTest, PodChangesUpdateTheSums) {
  (void)cache.SetPod(*On(TestPod("p", "1"), "n1"));
  (void)cache.SetPod(*On(TestPod("p", "3"), "n1"));
  EXPECT_EQ(Cpu(), 3000);
  EXPECT_NE(cache.RemovePod("uid-p"), nullptr);
  EXPECT_EQ(cache.RemovePod("uid-p"), nullptr);
  EXPECT_EQ(Cpu(), 0);
}

TEST_F(SchedulerCacheTest, PodsWithANodeAreNotKept) {
  PodInfoPtr bound = On(TestPod("bound", "1"), "n1");
  PodInfoPtr assumed = Info(TestPod("assumed", "1"));
  const std::weak_ptr<const core::v1::Pod> objects[] = {bound->pod, assumed->pod};
  (void)cache.SetPod(*bound);
  ASSERT_TRUE(cache.Assume(*assumed, "n1"));
  bound.reset();
  assumed.reset();
  for (const auto& object : objects) EXPECT_TRUE(object.expired());
}

TEST_F(SchedulerCacheTest, StatusUpdateDoesNotChangeGeneration) {
  (void)cache.SetPod(*On(TestPod("p", "1"), "n1"));
  cache.UpdateSnapshot(snapshot);
  const auto node = static_cast<NodeIndex>(snapshot.Find("n1"));
  const uint64_t generation = snapshot.generation(node);
  core::v1::Pod running = TestPod("p", "1");
  running.status.phase = "Running";
  (void)cache.SetPod(*On(running, "n1"));
  cache.UpdateSnapshot(snapshot);
  EXPECT_EQ(snapshot.generation(node), generation);
  (void)cache.RemovePod("uid-p");
  cache.UpdateSnapshot(snapshot);
  EXPECT_GT(snapshot.generation(node), generation);
}

TEST_F(SchedulerCacheTest, PodsCanArriveBeforeAndOutliveTheirNode) {
  (void)cache.SetPod(*On(TestPod("p", "1"), "late"));
  cache.UpdateSnapshot(snapshot);
  EXPECT_EQ(snapshot.Find("late"), -1);
  EXPECT_EQ(snapshot.num_nodes(), 1U);
  cache.SetNode(Share(TestNode("late")));
  EXPECT_EQ(Cpu("late"), 1000);
  cache.RemoveNode("late");
  cache.UpdateSnapshot(snapshot);
  EXPECT_EQ(snapshot.Find("late"), -1);
  cache.SetNode(Share(TestNode("late")));
  EXPECT_EQ(Cpu("late"), 1000);
}

TEST_F(SchedulerCacheTest, RecreatedNodeIsFoundByName) {
  cache.UpdateSnapshot(snapshot);
  cache.RemoveNode("n1");
  cache.SetNode(Share(TestNode("n2")));  // reuses the index of n1
  cache.SetNode(Share(TestNode("n1", "16")));
  cache.UpdateSnapshot(snapshot);
  ASSERT_GE(snapshot.Find("n1"), 0);
  ASSERT_GE(snapshot.Find("n2"), 0);
  EXPECT_EQ(snapshot.num_nodes(), 2U);
  EXPECT_EQ(snapshot.cpu().allocatable[static_cast<NodeIndex>(snapshot.Find("n1"))], 16'000);
  EXPECT_EQ(snapshot.name(static_cast<NodeIndex>(snapshot.Find("n2"))), "n2");
}

TEST_F(SchedulerCacheTest, SizesCountNodesPodsAndAssumedPods) {
  (void)cache.SetPod(*On(TestPod("a"), "n1"));
  ASSERT_TRUE(cache.Assume(*Info(TestPod("b")), "n1"));
  const SchedulerCache::Sizes sizes = cache.sizes();
  EXPECT_EQ(sizes.nodes, 1U);
  EXPECT_EQ(sizes.pods, 2U);
  EXPECT_EQ(sizes.assumed, 1U);
}

}  // namespace
}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "scheduler/plugins/registry.h"
#include "scheduler/testing/test_objects.h"

// The scores of each plugin.
namespace cox::scheduler {
namespace {

using core::v1::Node;
using core::v1::Pod;
using testing::ElementsAre;
using testing::IsEmpty;

class ScoresTest : public testing::Test {
 protected:
  // Returns the normalized scores of all nodes in order; empty if the plugin is skipped.
  std::vector<int64_t> Scores(const std::string& name, const Pod& pod) {
    const std::unique_ptr<Plugin> plugin = FindPlugin(name)->make({});
    const Snapshot& snapshot = nodes.Take();
    const PodInfoPtr info = Info(pod);
    CycleState state;
    if (const auto* pre = dynamic_cast<const PreFilterPlugin*>(plugin.get())) {
      (void)pre->PreFilter(state, *info, snapshot);
    }
    if (const auto* pre = dynamic_cast<const PreScorePlugin*>(plugin.get())) {
      if (pre->PreScore(state, *info, snapshot, snapshot.order()).skip()) return {};
    }
    const auto& scorer = dynamic_cast<const ScorePlugin&>(*plugin);
    std::vector<int64_t> scores;
    for (const NodeIndex node : snapshot.order()) {
      scores.push_back(scorer.Score(state, *info, snapshot, node));
    }
    scorer.NormalizeScore(scores);
    return scores;
  }

  TestClock clock;
  TestSnapshot nodes{clock};
};

TEST_F(ScoresTest, LeastAllocatedPrefersFreeResources) {
  nodes.Add(TestNode("empty", "4", "8Gi")).Add(TestNode("half", "4", "8Gi"));
  nodes.Add(TestPod("there", "2", "4Gi"), "half");
  // (4-1)/4 and (8-2)/8 of the empty one: 75; (4-3)/4 and (8-6)/8 of the other: 25.
  EXPECT_THAT(Scores("NodeResourcesFit", TestPod("p", "1", "2Gi")), ElementsAre(75, 25));
}

TEST_F(ScoresTest, PodsWithoutRequestsCountWithDefaults) {
  nodes.Add(TestNode("one", "1", "1000Mi")).Add(TestNode("two", "1", "1000Mi"));
  nodes.Add(TestPod("there"), "two");
  EXPECT_THAT(Scores("NodeResourcesFit", TestPod("p")), ElementsAre((90 + 80) / 2, (80 + 60) / 2));
}

TEST_F(ScoresTest, BalancedAllocationPrefersEvenUtilization) {
  nodes.Add(TestNode("even", "10", "10Gi")).Add(TestNode("odd", "10", "10Gi"));
  nodes.Add(TestPod("a", "4", "4Gi"), "even").Add(TestPod("b", "9", "0"), "odd");
  // Utilization 0.5 and 0.5; 1.0 and 0.1, with a deviation of 0.45.
  EXPECT_THAT(Scores("NodeResourcesBalancedAllocation", TestPod("p", "1", "1Gi")),
              ElementsAre(100, 55));
  EXPECT_THAT(Scores("NodeResourcesBalancedAllocation", TestPod("p")), IsEmpty());
}

TEST_F(ScoresTest, PreferNoScheduleTaintsLowerTheScore) {
  Node two = TestNode("two");
  two.spec.taints = {TestTaint("a", "", "PreferNoSchedule"),
                     TestTaint("b", "", "PreferNoSchedule")};
  Node one = TestNode("one");
  one.spec.taints = {TestTaint("a", "", "PreferNoSchedule")};
  nodes.Add(TestNode("none")).Add(one).Add(two);
  Pod pod = TestPod("p");
  EXPECT_THAT(Scores("TaintToleration", pod), ElementsAre(100, 50, 0));
  auto& toleration = pod.spec.tolerations.emplace_back();
  toleration.key = "a";
  toleration.operator_ = "Exists";
  EXPECT_THAT(Scores("TaintToleration", pod), ElementsAre(100, 100, 0));
  toleration.effect = "NoSchedule";
  EXPECT_THAT(Scores("TaintToleration", pod), ElementsAre(100, 50, 0));
}

TEST_F(ScoresTest, PreferredNodeAffinityAddsWeights) {
  Node ssd = TestNode("ssd");
  ssd.metadata.labels["disk"] = "ssd";
  Node both = ssd;
  both.metadata.name = "both";
  both.metadata.labels["zone"] = "a";
  nodes.Add(TestNode("none")).Add(ssd).Add(both);
  Pod pod = TestPod("p");
  EXPECT_THAT(Scores("NodeAffinity", pod), IsEmpty());
  auto& preferred = pod.spec.affinity.emplace()
                        .nodeAffinity.emplace()
                        .preferredDuringSchedulingIgnoredDuringExecution;
  preferred.emplace_back().weight = 2;
  preferred.back().preference.matchExpressions = {TestRequirement("disk", "In", {"ssd"})};
  preferred.emplace_back().weight = 6;
  preferred.back().preference.matchExpressions = {TestRequirement("zone", "Exists")};
  EXPECT_THAT(Scores("NodeAffinity", pod), ElementsAre(0, 25, 100));
}

TEST_F(ScoresTest, ImageLocalityPrefersNodesWithImages) {
  constexpr int64_t kMB = 1024 * 1024;
  Node has = TestNode("has");
  auto& image = has.status.images.emplace_back();
  image.names = {"image:latest"};
  image.sizeBytes = 500 * kMB;
  nodes.Add(TestNode("not")).Add(has);
  // Half of the nodes have the image, so it counts as 250 MB, minus the threshold of 23 MB.
  EXPECT_THAT(Scores("ImageLocality", TestPod("p")),
              ElementsAre(0, 100 * (250 - 23) / (1000 - 23)));
  Pod other = TestPod("p");
  other.spec.containers[0].image = "other";
  EXPECT_THAT(Scores("ImageLocality", other), IsEmpty());
}

TEST_F(ScoresTest, NormalizeByMax) {
  std::vector<int64_t> scores = {0, 0};
  NormalizeByMax(scores, false);
  EXPECT_THAT(scores, ElementsAre(0, 0));
  NormalizeByMax(scores, true);
  EXPECT_THAT(scores, ElementsAre(100, 100));
  scores = {1, 2, 4};
  NormalizeByMax(scores, false);
  EXPECT_THAT(scores, ElementsAre(25, 50, 100));
}

TEST(PrioritySortTest, SortsByPriorityThenTime) {
  const std::unique_ptr<Plugin> plugin = NewPrioritySort({});
  const auto& sort = dynamic_cast<const QueueSortPlugin&>(*plugin);
  Pod urgent = TestPod("u");
  urgent.spec.priority = 5;
  const PodInfoPtr high = Info(urgent);
  const PodInfoPtr low = Info(TestPod("l"));
  const Clock::SteadyTime early{};
  const Clock::SteadyTime late = early + std::chrono::seconds(1);
  EXPECT_TRUE(sort.Less({*high, late}, {*low, early}));
  EXPECT_FALSE(sort.Less({*low, early}, {*high, late}));
  EXPECT_TRUE(sort.Less({*low, early}, {*low, late}));
  EXPECT_FALSE(sort.Less({*low, early}, {*low, early}));
}

}  // namespace
}  // namespace cox::scheduler

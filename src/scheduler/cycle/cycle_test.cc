// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cycle/cycle.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/testing/test_clock.h"
#include "scheduler/testing/test_objects.h"

namespace cox::scheduler {
namespace {

using core::v1::Node;
using core::v1::Pod;

TEST(NodesToFindTest, PercentageDecreasesWithNumberOfNodes) {
  struct Case {
    int percentage;
    size_t nodes, want;
  };
  for (const Case& c : {Case{0, 50, 50}, Case{0, 100, 100}, Case{0, 1000, 420}, Case{0, 5000, 500},
                        Case{0, 6000, 300}, Case{0, 20'000, 1000}, Case{10, 5000, 500},
                        Case{10, 500, 100}, Case{100, 5000, 5000}, Case{40, 1000, 400}}) {
    EXPECT_EQ(NodesToFind(c.percentage, c.nodes), c.want) << c.percentage << " of " << c.nodes;
  }
}

class CycleTest : public testing::Test {
 protected:
  CycleTest() {
    auto made = Profile::Create(ProfileOptions{}, PluginHandle{});
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    profile = *std::move(made);
  }
  Decision Decide(const Pod& pod) { return cycle.Decide(ctx, *profile, *Info(pod), nodes.Take()); }
  // Decides and assumes the Pod.
  std::string Place(const Pod& pod) {
    const Decision decision = Decide(pod);
    if (decision.ok()) {
      EXPECT_TRUE(nodes.cache.Assume(*Info(pod), decision.node));
    }
    return decision.node;
  }

  TestClock clock;
  Context ctx{clock};
  MetricsRegistry registry;
  Metrics metrics{registry};
  TestSnapshot nodes{clock};
  std::unique_ptr<Profile> profile;
  Cycle cycle{1, &metrics};
};

TEST_F(CycleTest, NoNodes) {
  const Decision decision = Decide(TestPod("p"));
  EXPECT_FALSE(decision.ok());
  EXPECT_TRUE(decision.status.rejected());
  EXPECT_EQ(decision.Why(), "no nodes available to schedule pods");
  EXPECT_TRUE(decision.diagnosis.unschedulable_plugins.contains("NodeResourcesFit"));
}

TEST_F(CycleTest, ChoosesTheOnlyFeasibleNode) {
  nodes.Add(TestNode("small", "1")).Add(TestNode("large", "8"));
  const Decision decision = Decide(TestPod("p", "4"));
  EXPECT_EQ(decision.node, "large");
  EXPECT_EQ(decision.evaluated, 2U);
  EXPECT_EQ(decision.feasible, 1U);
}

TEST_F(CycleTest, DiagnosisHasReasonsOfAllNodes) {
  Node tainted = TestNode("t1");
  tainted.spec.taints = {TestTaint("key", "value", "NoSchedule")};
  nodes.Add(tainted);
  tainted.metadata.name = "t2";
  nodes.Add(tainted).Add(TestNode("small", "1"));
  const Decision decision = Decide(TestPod("p", "4"));
  EXPECT_FALSE(decision.ok());
  EXPECT_EQ(decision.Why(),
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {key: "
            "value}.");
  EXPECT_EQ(decision.diagnosis.unschedulable_plugins,
            (std::set<std::string, std::less<>>{"NodeResourcesFit", "TaintToleration"}));
}

TEST_F(CycleTest, EqualPodsSpreadOverEqualNodes) {
  for (int i = 0; i < 10; ++i) nodes.Add(TestNode("n" + std::to_string(i)));
  std::map<std::string, int> count;
  for (int i = 0; i < 40; ++i) ++count[Place(TestPod("p" + std::to_string(i), "100m", "100Mi"))];
  EXPECT_EQ(count.size(), 10U);
  for (const auto& [node, pods] : count) EXPECT_EQ(pods, 4) << node;
}

TEST_F(CycleTest, RejectsWhenNodesAreFull) {
  nodes.Add(TestNode("a", "2")).Add(TestNode("b", "2"));
  for (int i = 0; i < 4; ++i) EXPECT_NE(Place(TestPod("p" + std::to_string(i), "1")), "");
  const Decision decision = Decide(TestPod("more", "1"));
  EXPECT_FALSE(decision.ok());
  EXPECT_EQ(decision.Why(), "0/2 nodes are available: 2 Insufficient cpu.");
  (void)nodes.cache.RemovePod("uid-p0");
  EXPECT_NE(Place(TestPod("more", "1")), "");
}

// A sequence of Pods gives the same result with and without cached results.
TEST_F(CycleTest, CachedResultsEqualFreshResults) {
  for (int i = 0; i < 300; ++i) {
    Node node = TestNode("n" + std::to_string(i), i % 3 == 0 ? "2" : "4");
    node.metadata.labels["zone"] = i % 2 == 0 ? "a" : "b";
    if (i % 7 == 0) node.spec.taints = {TestTaint("k", "v", "PreferNoSchedule")};
    nodes.Add(node);
  }
  Cycle forgetful(1, nullptr);
  Cycle remembering(1, nullptr);
  for (int i = 0; i < 600; ++i) {
    Pod pod = TestPod("p" + std::to_string(i), i % 2 == 0 ? "500m" : "1", "100Mi");
    if (i % 5 == 0) pod.spec.nodeSelector["zone"] = "a";
    const Snapshot& snapshot = nodes.Take();
    const Decision with = remembering.Decide(ctx, *profile, *Info(pod), snapshot);
    // A unique toleration gives each Pod a unique signature.
    pod.spec.tolerations.emplace_back().key = "own-" + std::to_string(i);
    const Decision without = forgetful.Decide(ctx, *profile, *Info(pod), snapshot);
    ASSERT_EQ(with.node, without.node) << i;
    ASSERT_EQ(with.feasible, without.feasible) << i;
    ASSERT_TRUE(with.ok());
    ASSERT_TRUE(nodes.cache.Assume(*Info(pod), with.node));
    if (i % 100 == 50) {
      Node changed = TestNode("n" + std::to_string(i), "8");
      changed.spec.unschedulable = true;
      nodes.Add(changed);
    }
  }
}

TEST_F(CycleTest, FiltersPartOfManyNodesAndContinuesThere) {
  for (int i = 0; i < 1000; ++i) nodes.Add(TestNode("n" + std::to_string(i)));
  EXPECT_EQ(Decide(TestPod("a")).evaluated, 420U);
  std::set<std::string> used;
  for (int i = 0; i < 1000; ++i) used.insert(Place(TestPod("p" + std::to_string(i), "1", "1Gi")));
  // Almost all: the last free nodes may be outside the evaluated part. Without continuing it would
  // be 420.
  EXPECT_GT(used.size(), 990U);
}

TEST_F(CycleTest, NodeAffinityByNameEvaluatesOnlyThatNode) {
  for (int i = 0; i < 5; ++i) nodes.Add(TestNode("n" + std::to_string(i), "1"));
  Pod pod = TestPod("p", "1");
  auto& term = pod.spec.affinity.emplace()
                   .nodeAffinity.emplace()
                   .requiredDuringSchedulingIgnoredDuringExecution.emplace()
                   .nodeSelectorTerms.emplace_back();
  term.matchFields = {TestRequirement("metadata.name", "In", {"n3"})};
  EXPECT_EQ(Decide(pod).node, "n3");
  EXPECT_EQ(Decide(pod).evaluated, 1U);
  pod.spec.containers[0].resources.requests["cpu"] = Q("2");
  EXPECT_EQ(Decide(pod).Why(),
            "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity].");
}

TEST_F(CycleTest, AddedAndRemovedNodesAreObserved) {
  nodes.Add(TestNode("n1", "1"));
  EXPECT_FALSE(Decide(TestPod("p", "2")).ok());
  nodes.Add(TestNode("n2", "4"));
  EXPECT_EQ(Decide(TestPod("p", "2")).node, "n2");
  nodes.cache.RemoveNode("n2");
  EXPECT_FALSE(Decide(TestPod("p", "2")).ok());
}

TEST_F(CycleTest, ChoosesRandomlyAmongEqualNodes) {
  for (int i = 0; i < 4; ++i) nodes.Add(TestNode("n" + std::to_string(i)));
  std::set<std::string> drawn;
  for (int i = 0; i < 64; ++i) drawn.insert(Decide(TestPod("p")).node);
  EXPECT_EQ(drawn.size(), 4U);
}

TEST_F(CycleTest, UpdatesMetrics) {
  nodes.Add(TestNode("n1")).Add(TestNode("n2"));
  EXPECT_TRUE(Decide(TestPod("p", "1")).ok());
  const std::string text = registry.Render();
  for (
      const char* line :
      {R"(scheduler_plugin_evaluation_total{extension_point="Filter",plugin="NodeResourcesFit",profile="default-scheduler"} 1)",
       R"(scheduler_framework_extension_point_duration_seconds_count{extension_point="Filter",profile="default-scheduler",status="Success"} 1)"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

TEST(ProfileTest, CreateReportsMissingPlugins) {
  ProfileOptions options;
  options.plugins = {{.name = "Nonsense", .weight = {}}};
  EXPECT_EQ(Profile::Create(options, PluginHandle{}).status().message(),
            "profile \"default-scheduler\": there is no plugin \"Nonsense\"");
  options.plugins = {{.name = "PrioritySort", .weight = {}}};
  EXPECT_EQ(Profile::Create(options, PluginHandle{}).status().message(),
            "profile \"default-scheduler\": no bind plugin is enabled; add DefaultBinder");
}

}  // namespace
}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "object/core/node_selector.h"
#include "scheduler/plugins/registry.h"
#include "scheduler/testing/test_objects.h"

// The results and messages of each filter plugin.
namespace cox::scheduler {
namespace {

using core::v1::Node;
using core::v1::Pod;
using testing::ElementsAre;

class FiltersTest : public testing::Test {
 protected:
  // Returns the reasons why the first node is rejected, "ok", or "skip".
  std::string Ask(const std::string& name, const Pod& pod) {
    const std::unique_ptr<Plugin> plugin = FindPlugin(name)->make({});
    const Snapshot& snapshot = nodes.Take();
    const PodInfoPtr info = Info(pod);
    CycleState state;
    if (const auto* pre = dynamic_cast<const PreFilterPlugin*>(plugin.get())) {
      last = pre->PreFilter(state, *info, snapshot);
      if (last.status.skip()) return "skip";
      if (!last.status.ok()) return "pre: " + last.status.Message();
    }
    plugin_status = dynamic_cast<const FilterPlugin&>(*plugin).Filter(state, *info, snapshot, 0);
    EXPECT_TRUE(plugin_status.ok() || plugin_status.plugin() == name);
    return plugin_status.ok() ? "ok" : plugin_status.Message();
  }

  TestClock clock;
  TestSnapshot nodes{clock};
  PreFilterResult last;
  PluginStatus plugin_status;
};

TEST_F(FiltersTest, NodeName) {
  nodes.Add(TestNode("n1"));
  Pod pod = TestPod("p");
  EXPECT_EQ(Ask("NodeName", pod), "skip");
  pod.spec.nodeName = "n1";
  EXPECT_EQ(Ask("NodeName", pod), "ok");
  pod.spec.nodeName = "n2";
  EXPECT_EQ(Ask("NodeName", pod), "node(s) didn't match the requested node name");
  EXPECT_EQ(plugin_status.code(), Code::kUnschedulableAndUnresolvable);
}

TEST_F(FiltersTest, NodeUnschedulable) {
  Node node = TestNode("n1");
  nodes.Add(node);
  Pod pod = TestPod("p");
  EXPECT_EQ(Ask("NodeUnschedulable", pod), "ok");
  node.spec.unschedulable = true;
  nodes.Add(node);
  EXPECT_EQ(Ask("NodeUnschedulable", pod), "node(s) were unschedulable");
  auto& toleration = pod.spec.tolerations.emplace_back();
  toleration.key = "node.kubernetes.io/unschedulable";
  toleration.operator_ = "Exists";
  EXPECT_EQ(Ask("NodeUnschedulable", pod), "skip");
}

TEST_F(FiltersTest, TaintToleration) {
  struct Case {
    const char* effect;
    const char *toleration_key, *op, *value, *toleration_effect;
    const char* want;
  };
  const char* const kRefused = "node(s) had untolerated taint {dedicated: db}";
  for (const Case& c : {
           Case{"NoSchedule", nullptr, "", "", "", kRefused},
           Case{"NoExecute", nullptr, "", "", "", kRefused},
           Case{"PreferNoSchedule", nullptr, "", "", "", "ok"},
           Case{"NoSchedule", "dedicated", "Equal", "db", "NoSchedule", "ok"},
           Case{"NoSchedule", "dedicated", "", "db", "", "ok"},
           Case{"NoSchedule", "dedicated", "Equal", "web", "", kRefused},
           Case{"NoSchedule", "dedicated", "Exists", "", "", "ok"},
           Case{"NoSchedule", "dedicated", "Exists", "", "NoExecute", kRefused},
           Case{"NoSchedule", "other", "Exists", "", "", kRefused},
           Case{"NoSchedule", "", "Exists", "", "", "ok"},
       }) {
    Node node = TestNode("n1");
    node.spec.taints = {TestTaint("dedicated", "db", c.effect)};
    nodes.Add(node);
    Pod pod = TestPod("p");
    if (c.toleration_key != nullptr) {
      auto& toleration = pod.spec.tolerations.emplace_back();
      toleration.key = c.toleration_key;
      toleration.operator_ = c.op;
      toleration.value = c.value;
      toleration.effect = c.toleration_effect;
    }
    EXPECT_EQ(Ask("TaintToleration", pod), c.want) << c.effect << " " << c.op << " " << c.value;
  }
}

TEST_F(FiltersTest, NodePorts) {
  nodes.Add(TestNode("n1"));
  const auto with_port = [](const char* name, const char* ip, int32_t port, const char* protocol) {
    Pod pod = TestPod(name);
    auto& wanted = pod.spec.containers[0].ports.emplace_back();
    wanted.hostIP = ip;
    wanted.hostPort = port;
    wanted.protocol = protocol;
    return pod;
  };
  EXPECT_EQ(Ask("NodePorts", TestPod("none")), "skip");
  EXPECT_EQ(Ask("NodePorts", with_port("a", "", 80, "TCP")), "ok");
  nodes.Add(with_port("b", "10.0.0.1", 80, "TCP"), "n1");
  EXPECT_EQ(Ask("NodePorts", with_port("a", "", 80, "TCP")),
            "node(s) didn't have free ports for the requested pod ports");
  EXPECT_EQ(plugin_status.code(), Code::kUnschedulable);
  EXPECT_EQ(Ask("NodePorts", with_port("a", "10.0.0.2", 80, "TCP")), "ok");
  EXPECT_EQ(Ask("NodePorts", with_port("a", "", 80, "UDP")), "ok");
  (void)nodes.cache.RemovePod("uid-b");
  EXPECT_EQ(Ask("NodePorts", with_port("a", "", 80, "TCP")), "ok");
}

TEST_F(FiltersTest, NodeResourcesFit) {
  Node node = TestNode("n1", "4", "8Gi", 3);
  node.status.allocatable["example.com/gpu"] = Q("2");
  nodes.Add(node).Add(TestPod("there", "3", "2Gi"), "n1");
  EXPECT_EQ(Ask("NodeResourcesFit", TestPod("p")), "ok");
  EXPECT_EQ(Ask("NodeResourcesFit", TestPod("p", "1", "6Gi")), "ok");
  EXPECT_EQ(Ask("NodeResourcesFit", TestPod("p", "1001m")), "Insufficient cpu");
  EXPECT_EQ(plugin_status.code(), Code::kUnschedulable);
  EXPECT_EQ(Ask("NodeResourcesFit", TestPod("p", "5")), "Insufficient cpu");
  EXPECT_EQ(plugin_status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(Ask("NodeResourcesFit", TestPod("p", "2", "7Gi")),
            "Insufficient cpu, Insufficient memory");
  Pod gpus = TestPod("p");
  gpus.spec.containers[0].resources.requests["example.com/gpu"] = Q("2");
  EXPECT_EQ(Ask("NodeResourcesFit", gpus), "ok");
  gpus.spec.containers[0].resources.requests["example.com/none"] = Q("1");
  EXPECT_EQ(Ask("NodeResourcesFit", gpus), "Insufficient example.com/none");
  nodes.Add(TestPod("two"), "n1").Add(TestPod("three"), "n1");
  EXPECT_EQ(Ask("NodeResourcesFit", TestPod("p")), "Too many pods");
  EXPECT_THAT((Ask("NodeResourcesFit", TestPod("p", "2")), plugin_status.reasons()),
              ElementsAre("Too many pods", "Insufficient cpu"));
}

TEST_F(FiltersTest, NodeSelector) {
  Node node = TestNode("n1");
  node.metadata.labels["disk"] = "ssd";
  nodes.Add(node);
  const char* const kRefused = "node(s) didn't match Pod's node affinity/selector";
  Pod pod = TestPod("p");
  EXPECT_EQ(Ask("NodeAffinity", pod), "skip");
  pod.spec.nodeSelector["disk"] = "ssd";
  EXPECT_EQ(Ask("NodeAffinity", pod), "ok");
  pod.spec.nodeSelector["zone"] = "a";
  EXPECT_EQ(Ask("NodeAffinity", pod), kRefused);
  EXPECT_EQ(plugin_status.code(), Code::kUnschedulableAndUnresolvable);
}

TEST_F(FiltersTest, NodeAffinityRequirements) {
  struct Case {
    core::v1::NodeSelectorRequirement requirement;
    bool want;
  };
  Node node = TestNode("n1");
  node.metadata.labels["disk"] = "ssd";
  node.metadata.labels["cores"] = "8";
  nodes.Add(node);
  for (const Case& c : {
           Case{TestRequirement("disk", "In", {"hdd", "ssd"}), true},
           Case{TestRequirement("disk", "In", {"hdd"}), false},
           Case{TestRequirement("none", "In", {"ssd"}), false},
           Case{TestRequirement("disk", "NotIn", {"ssd"}), false},
           Case{TestRequirement("disk", "NotIn", {"hdd"}), true},
           Case{TestRequirement("none", "NotIn", {"ssd"}), true},
           Case{TestRequirement("disk", "Exists"), true},
           Case{TestRequirement("none", "Exists"), false},
           Case{TestRequirement("disk", "DoesNotExist"), false},
           Case{TestRequirement("none", "DoesNotExist"), true},
           Case{TestRequirement("cores", "Gt", {"7"}), true},
           Case{TestRequirement("cores", "Gt", {"8"}), false},
           Case{TestRequirement("cores", "Lt", {"9"}), true},
           Case{TestRequirement("disk", "Gt", {"1"}), false},
           Case{TestRequirement("none", "Lt", {"1"}), false},
       }) {
    Pod pod = TestPod("p");
    auto& required = pod.spec.affinity.emplace()
                         .nodeAffinity.emplace()
                         .requiredDuringSchedulingIgnoredDuringExecution.emplace();
    required.nodeSelectorTerms.emplace_back().matchExpressions = {c.requirement};
    const std::string what = c.requirement.key + " " + c.requirement.operator_;
    EXPECT_EQ(Ask("NodeAffinity", pod) == "ok", c.want) << what;
    EXPECT_EQ(core_rules::MatchesRequired(pod, node), c.want) << what;
  }
}

TEST_F(FiltersTest, AnyTermIsSufficientAndEmptyTermMatchesNothing) {
  nodes.Add(TestNode("n1"));
  Pod pod = TestPod("p");
  auto& terms = pod.spec.affinity.emplace()
                    .nodeAffinity.emplace()
                    .requiredDuringSchedulingIgnoredDuringExecution.emplace()
                    .nodeSelectorTerms;
  EXPECT_NE(Ask("NodeAffinity", pod), "ok");
  terms.emplace_back();
  EXPECT_NE(Ask("NodeAffinity", pod), "ok");
  terms.emplace_back().matchExpressions = {TestRequirement("none", "DoesNotExist")};
  EXPECT_EQ(Ask("NodeAffinity", pod), "ok");
}

TEST_F(FiltersTest, MatchFieldsRestrictTheNodes) {
  nodes.Add(TestNode("n1")).Add(TestNode("n2"));
  Pod pod = TestPod("p");
  auto& terms = pod.spec.affinity.emplace()
                    .nodeAffinity.emplace()
                    .requiredDuringSchedulingIgnoredDuringExecution.emplace()
                    .nodeSelectorTerms;
  terms.emplace_back().matchFields = {TestRequirement("metadata.name", "In", {"n1"})};
  EXPECT_EQ(Ask("NodeAffinity", pod), "ok");
  ASSERT_TRUE(last.nodes.has_value());
  EXPECT_THAT(*last.nodes, ElementsAre("n1"));
  terms.emplace_back().matchExpressions = {TestRequirement("x", "Exists")};
  EXPECT_EQ(Ask("NodeAffinity", pod), "ok");
  EXPECT_FALSE(last.nodes.has_value());
  terms = {};
  terms.emplace_back().matchFields = {TestRequirement("metadata.name", "In", {"n1"}),
                                      TestRequirement("metadata.name", "In", {"n2"})};
  EXPECT_EQ(Ask("NodeAffinity", pod), "pre: pod affinity terms conflict");
}

TEST_F(FiltersTest, SchedulingGates) {
  const std::unique_ptr<Plugin> plugin = NewSchedulingGates({});
  const auto& gates = dynamic_cast<const PreEnqueuePlugin&>(*plugin);
  Pod pod = TestPod("p");
  EXPECT_TRUE(gates.PreEnqueue(*Info(pod)).ok());
  pod.spec.schedulingGates.emplace_back().name = "a";
  pod.spec.schedulingGates.emplace_back().name = "b";
  EXPECT_EQ(gates.PreEnqueue(*Info(pod)).Message(), "waiting for scheduling gates: [a b]");
}

}  // namespace
}  // namespace cox::scheduler

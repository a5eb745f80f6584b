// SPDX-License-Identifier: Apache-2.0
#include "scheduler/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "api/core/v1.h"
#include "api/events/v1.h"
#include "coxswain/conditions.h"
#include "tests/manager_fixture.h"

// The scheduler in a manager, with the real API server in this process.
namespace cox::scheduler {
namespace {

using core::v1::Node;
using core::v1::Pod;
using std::chrono::seconds;
using testing::HasSubstr;
using testkit::WaitFor;

class SchedulerTest : public ManagerFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartCluster());
    MakeManager(cluster->context(), cluster->client());
  }
  void Run(const SchedulerOptions& options = {}) {
    ASSERT_TRUE(AddScheduler(*manager, options).ok());
    RunManager();
  }

  Node MakeNode(const std::string& name, const char* cpu = "4") {
    Node node;
    node.metadata.name = name;
    for (auto* amounts : {&node.status.capacity, &node.status.allocatable}) {
      (*amounts)["cpu"] = *Quantity::Parse(cpu);
      (*amounts)["memory"] = *Quantity::Parse("8Gi");
      (*amounts)["pods"] = Quantity(110);
    }
    return node;
  }
  void CreateNode(const Node& node) {
    const auto created = cluster->client().Create(*ctx, node);
    ASSERT_TRUE(created.ok()) << created.status().ToString();
    Node status = *created;
    status.status = node.status;
    ASSERT_TRUE(cluster->client().UpdateStatus(*ctx, status).ok());
    // New nodes have a taint until the node lifecycle controller, which does not run here, removes
    // it.
    const auto untainted =
        ChangeObject<Node>(*ctx, cluster->client(), KeyOf(node), [&](Node& now) -> Result<bool> {
          now.spec.taints = node.spec.taints;
          return true;
        });
    ASSERT_TRUE(untainted.ok()) << untainted.status().ToString();
  }
  Pod MakePod(const std::string& name, const char* cpu = "100m") {
    Pod pod;
    pod.metadata.namespace_ = "default";
    pod.metadata.name = name;
    auto& container = pod.spec.containers.emplace_back();
    container.name = "c";
    container.image = "image";
    container.resources.requests["cpu"] = *Quantity::Parse(cpu);
    return pod;
  }
  void Create(const Pod& pod) {
    const auto created = cluster->client().Create(*ctx, pod);
    ASSERT_TRUE(created.ok()) << created.status().ToString();
  }
  std::string NodeOf(const std::string& name) {
    const auto pod = WaitFor<Pod>(*ctx, cluster->client(), {"default", name},
                                  [](const Pod& p) { return !p.spec.nodeName.empty(); });
    EXPECT_TRUE(pod.ok()) << pod.status().ToString();
    return pod.ok() ? pod->spec.nodeName : "";
  }
  std::string WhyNot(const std::string& name) {
    std::string why;
    const auto pod = WaitFor<Pod>(*ctx, cluster->client(), {"default", name}, [&](const Pod& p) {
      const auto* condition = FindCondition(p.status.conditions, "PodScheduled");
      if (condition == nullptr || condition->status != "False") return false;
      why = condition->reason + ": " + condition->message;
      return true;
    });
    EXPECT_TRUE(pod.ok()) << pod.status().ToString();
    return why;
  }
  // Returns the note of the first event with that reason for the Pod.
  std::string EventOf(const std::string& pod, const std::string& reason,
                      const std::string& controller = "default-scheduler") {
    auto watch = cluster->client().Watch(*ctx, Resource::Of<events::v1::Event>(),
                                         {.send_initial_events = true});
    EXPECT_TRUE(watch.ok()) << watch.status().ToString();
    while (watch.ok()) {
      const auto next = (*watch)->Next(*ctx);
      if (!next.ok()) break;
      const auto* event = next->object == nullptr ? nullptr : next->object->As<events::v1::Event>();
      if (event != nullptr && event->reason == reason && event->regarding.name == pod) {
        EXPECT_EQ(event->reportingController, controller);
        return event->note;
      }
    }
    return "";
  }
};

TEST_F(SchedulerTest, PodsAreScheduled) {
  for (int i = 0; i < 4; ++i) CreateNode(MakeNode("n" + std::to_string(i)));
  Create(MakePod("before"));
  Run();
  EXPECT_NE(NodeOf("before"), "");
  std::map<std::string, int> count;
  for (int i = 0; i < 40; ++i) Create(MakePod("p" + std::to_string(i)));
  for (int i = 0; i < 40; ++i) ++count[NodeOf("p" + std::to_string(i))];
  EXPECT_EQ(count.size(), 4U);
  for (const auto& [node, pods] : count) EXPECT_NEAR(pods, 10, 1) << node;
  EXPECT_EQ(EventOf("p0", "Scheduled"), "Successfully assigned default/p0 to " + NodeOf("p0"));
}

TEST_F(SchedulerTest, UnschedulablePodReportsReasonAndIsScheduledLater) {
  Node tainted = MakeNode("tainted");
  tainted.spec.taints.emplace_back();
  tainted.spec.taints.back().key = "key";
  tainted.spec.taints.back().value = "value";
  tainted.spec.taints.back().effect = "NoSchedule";
  CreateNode(tainted);
  CreateNode(MakeNode("small", "1"));
  Run();
  Create(MakePod("big", "3"));
  const std::string kWhy =
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {key: value}.";
  EXPECT_EQ(WhyNot("big"), "Unschedulable: " + kWhy);
  EXPECT_EQ(EventOf("big", "FailedScheduling"), kWhy);
  CreateNode(MakeNode("large", "8"));
  EXPECT_EQ(NodeOf("big"), "large");
}

TEST_F(SchedulerTest, ResourcesOfDeletedPodAreReused) {
  CreateNode(MakeNode("n", "1"));
  Run();
  Create(MakePod("first", "800m"));
  EXPECT_EQ(NodeOf("first"), "n");
  Create(MakePod("second", "800m"));
  EXPECT_THAT(WhyNot("second"), HasSubstr("0/1 nodes are available: 1 Insufficient cpu."));
  ASSERT_TRUE(
      cluster->client().Delete<Pod>(*ctx, {"default", "first"}, {.grace_period = seconds(0)}).ok());
  EXPECT_EQ(NodeOf("second"), "n");
}

TEST_F(SchedulerTest, GatedPodsAndPodsOfOtherSchedulersAreIgnored) {
  CreateNode(MakeNode("n"));
  Pod gated = MakePod("gated");
  gated.spec.schedulingGates.emplace_back().name = "example.com/gate";
  Create(gated);
  Pod foreign = MakePod("foreign");
  foreign.spec.schedulerName = "other";
  Create(foreign);
  Run();
  Create(MakePod("plain"));
  EXPECT_EQ(NodeOf("plain"), "n");
  EXPECT_EQ(cluster->client().Get<Pod>(*ctx, {"default", "gated"})->spec.nodeName, "");
  EXPECT_EQ(cluster->client().Get<Pod>(*ctx, {"default", "foreign"})->spec.nodeName, "");
  EXPECT_THAT(manager->metrics().Render(), HasSubstr("scheduler_pending_pods{queue=\"gated\"} 1"));
  const auto opened = ChangeObject<Pod>(*ctx, cluster->client(), {"default", "gated"},
                                        [](Pod& pod) -> Result<bool> {
                                          pod.spec.schedulingGates.clear();
                                          return true;
                                        });
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  EXPECT_EQ(NodeOf("gated"), "n");
}

TEST_F(SchedulerTest, ProfilesServePodsByName) {
  CreateNode(MakeNode("n"));
  SchedulerOptions options;
  options.profiles.push_back({.scheduler_name = "second"});
  Run(options);
  Pod pod = MakePod("p");
  pod.spec.schedulerName = "second";
  Create(pod);
  EXPECT_EQ(NodeOf("p"), "n");
  // The metric is updated before the event is recorded.
  EXPECT_EQ(EventOf("p", "Scheduled", "second"), "Successfully assigned default/p to n");
  EXPECT_THAT(manager->metrics().Render(), HasSubstr("profile=\"second\",result=\"scheduled\"} 1"));
}

TEST_F(SchedulerTest, PodWithUnsupportedRequirementStaysPendingWithReason) {
  CreateNode(MakeNode("n1"));
  CreateNode(MakeNode("n2"));
  Run();
  Pod hard = MakePod("hard");
  core::v1::PodAffinityTerm term;
  term.topologyKey = "kubernetes.io/hostname";
  auto& anti_affinity = hard.spec.affinity.emplace().podAntiAffinity.emplace();
  anti_affinity.requiredDuringSchedulingIgnoredDuringExecution.push_back(term);
  Create(hard);
  const std::string kWhy =
      "0/2 nodes are available: required Pod anti-affinity is not implemented.";
  EXPECT_EQ(WhyNot("hard"), "Unschedulable: " + kWhy);
  EXPECT_EQ(EventOf("hard", "FailedScheduling"), kWhy);

  // A new node and a Pod that is bound do not cause another attempt.
  Pod soft = MakePod("soft");
  auto& preferred = soft.spec.affinity.emplace()
                        .podAntiAffinity.emplace()
                        .preferredDuringSchedulingIgnoredDuringExecution.emplace_back();
  preferred.weight = 1;
  preferred.podAffinityTerm = term;
  Create(soft);
  EXPECT_NE(NodeOf("soft"), "");
  CreateNode(MakeNode("n3", "8"));
  Create(MakePod("large", "6"));
  EXPECT_EQ(NodeOf("large"), "n3");
  EXPECT_EQ(cluster->client().Get<Pod>(*ctx, {"default", "hard"})->spec.nodeName, "");
  // The scheduler may see "large" before its node, and then tries more than once.
  AwaitMetric("scheduler_pod_scheduling_attempts_count", "", 2);
  const double attempts = Metric("scheduler_pod_scheduling_attempts_sum", "");  // of both Pods
  EXPECT_EQ(Metric("scheduler_schedule_attempts_total{", "result=\"unschedulable\""),
            1 + attempts - 2);
}

TEST_F(SchedulerTest, PodsWaitForFirstNode) {
  Run();
  Create(MakePod("p"));
  EXPECT_EQ(WhyNot("p"), "Unschedulable: no nodes available to schedule pods");
  CreateNode(MakeNode("n"));
  EXPECT_EQ(NodeOf("p"), "n");
}

}  // namespace
}  // namespace cox::scheduler

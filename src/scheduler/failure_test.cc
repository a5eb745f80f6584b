// SPDX-License-Identifier: Apache-2.0
#include "scheduler/failure.h"

#include <gtest/gtest.h>

#include "scheduler/cycle/diagnosis.h"
#include "scheduler/testing/test_objects.h"

namespace cox::scheduler {
namespace {

const PluginStatus kCpu = PluginStatus::Unschedulable("NodeResourcesFit", "Insufficient cpu");
const PluginStatus kTaint =
    PluginStatus::Unresolvable("TaintToleration", "node(s) had untolerated taint {key: value}");

TEST(FitErrorTextTest, CountsReasonsAndSortsThemAsText) {
  Diagnosis diagnosis{.all_nodes = 3, .nodes = {{0, kTaint}, {1, kCpu}, {2, kTaint}}};
  EXPECT_EQ(FitErrorText(diagnosis),
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {key: "
            "value}.");
  diagnosis.post_filter_message =
      "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
  EXPECT_EQ(FitErrorText(diagnosis),
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {key: "
            "value}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for "
            "scheduling.");
}

TEST(FitErrorTextTest, CountsAreSortedAsText) {
  Diagnosis diagnosis{.all_nodes = 12};
  for (NodeIndex i = 0; i < 12; ++i) diagnosis.nodes.emplace_back(i, i < 10 ? kTaint : kCpu);
  EXPECT_EQ(FitErrorText(diagnosis),
            "0/12 nodes are available: 10 node(s) had untolerated taint {key: value}, 2 "
            "Insufficient cpu.");
}

TEST(FitErrorTextTest, EachReasonOfANodeCounts) {
  const PluginStatus both(Code::kUnschedulable, "NodeResourcesFit",
                          {"Too many pods", "Insufficient cpu"});
  const Diagnosis diagnosis{.all_nodes = 2, .nodes = {{0, both}, {1, kCpu}}};
  EXPECT_EQ(FitErrorText(diagnosis),
            "0/2 nodes are available: 1 Too many pods, 2 Insufficient cpu.");
}

TEST(FitErrorTextTest, NodesThatWereNotEvaluatedHaveTheAbsentStatus) {
  Diagnosis diagnosis{.all_nodes = 5, .nodes = {{0, kCpu}}};
  diagnosis.absent =
      PluginStatus::Unresolvable("NodeAffinity", "node(s) didn't satisfy plugin(s) [NodeAffinity]");
  EXPECT_EQ(FitErrorText(diagnosis),
            "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity].");
}

TEST(FitErrorTextTest, PreFilterMessageReplacesNodeReasons) {
  Diagnosis diagnosis{.all_nodes = 5, .pre_filter_message = "pod affinity terms conflict"};
  EXPECT_EQ(FitErrorText(diagnosis), "0/5 nodes are available: pod affinity terms conflict.");
}

TEST(FailureTest, ReasonDistinguishesRejectionAndError) {
  core::v1::Pod pod = TestPod("p");
  pod.metadata.generation = 3;
  const auto refused = NotScheduled(pod, kCpu, "m", Time::FromUnix(7));
  EXPECT_EQ(refused.type, "PodScheduled");
  EXPECT_EQ(refused.status, "False");
  EXPECT_EQ(refused.reason, "Unschedulable");
  EXPECT_EQ(refused.message, "m");
  EXPECT_EQ(refused.observedGeneration, 3);
  EXPECT_EQ(refused.lastTransitionTime, Time::FromUnix(7));
  EXPECT_EQ(NotScheduled(pod, PluginStatus::Error("x", "e"), "e", {}).reason, "SchedulerError");
}

TEST(FailureTest, TransitionTimeIsThatOfFirstFailure) {
  core::v1::Pod pod = TestPod("p");
  pod.status.conditions = {NotScheduled(pod, kCpu, "m", Time::FromUnix(7))};
  EXPECT_EQ(NotScheduled(pod, kTaint, "n", Time::FromUnix(9)).lastTransitionTime,
            Time::FromUnix(7));
}

TEST(FailureTest, NoPatchWithoutChange) {
  core::v1::Pod pod = TestPod("p");
  const auto condition = NotScheduled(pod, kCpu, "a \"b\"", Time::FromUnix(7));
  const std::optional<Patch> patch = StatusPatch(pod, condition, "");
  ASSERT_TRUE(patch.has_value());
  EXPECT_NE(patch->body.find(R"({"metadata":{"uid":"uid-p"},"status":{"conditions":[{)"),
            std::string::npos)
      << patch->body;
  EXPECT_EQ(patch->body.find("nominatedNodeName"), std::string::npos);
  core::v1::Pod stored = pod;
  stored.metadata.resourceVersion = "7";
  EXPECT_NE(StatusPatch(stored, condition, "")->body.find(R"("resourceVersion":"7")"),
            std::string::npos)
      << "it may have a node by then";
  pod.status.conditions = {condition};
  EXPECT_FALSE(StatusPatch(pod, condition, "").has_value());
  EXPECT_NE(StatusPatch(pod, condition, "n1")->body.find(R"("nominatedNodeName":"n1")"),
            std::string::npos);
}

TEST(FailureTest, LongNotesAreTruncated) {
  EXPECT_EQ(CutNote("short"), "short");
  const std::string cut = CutNote(std::string(2000, 'x'));
  EXPECT_EQ(cut.size(), 1024U);
  EXPECT_TRUE(cut.ends_with("x ..."));
}

}  // namespace
}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include "kubelet/status/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coxswain/conditions.h"
#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using core::v1::Pod;
using core::v1::PodCondition;
using core::v1::PodStatus;
using testing::MakePod;

const Time kThen = Time::FromUnix(1'800'000'000);

std::string Words(const PodStatus& status, std::string_view type) {
  const PodCondition* found = FindCondition(status.conditions, type);
  if (found == nullptr) return "none";
  std::string out = found->status;
  if (!found->reason.empty()) out += " " + found->reason;
  if (!found->message.empty()) out += ": " + found->message;
  return out;
}

PodStatus Conditions(const Pod& pod, bool sandbox = true) {
  PodStatus status = pod.status;
  SetConditions(pod, sandbox, kThen, status);
  return status;
}

TEST(ConditionsTest, Ready) {
  const std::string two = R"({"containers":[{"name":"a"},{"name":"b"}]})";
  const std::string gate =
      R"({"containers":[{"name":"a"}],"readinessGates":[{"conditionType":"x/y"}]})";
  const struct {
    std::string spec, status, ready, containers;
  } kCases[] = {
      {two, R"({"containerStatuses":[{"name":"a","ready":true},{"name":"b","ready":true}]})",
       "True", "True"},
      {two, R"({"containerStatuses":[{"name":"a"},{"name":"b"}]})",
       "False ContainersNotReady: containers with unready status: [a b]",
       "False ContainersNotReady: containers with unready status: [a b]"},
      {two, R"({"containerStatuses":[{"name":"a"}]})",
       "False ContainersNotReady: containers with unknown status: [b], containers with unready "
       "status: [a]",
       "False ContainersNotReady: containers with unknown status: [b], containers with unready "
       "status: [a]"},
      {two, R"({"phase":"Succeeded","containerStatuses":[{"name":"a"},{"name":"b"}]})",
       "False PodCompleted", "False PodCompleted"},
      {two, R"({"phase":"Failed"})", "False PodFailed", "False PodFailed"},
      {gate, R"({"containerStatuses":[{"name":"a","ready":true}]})",
       "False ReadinessGatesNotReady: corresponding condition of pod readiness gate \"x/y\" does "
       "not exist.",
       "True"},
      {gate,
       R"({"conditions":[{"type":"x/y","status":"False"}],"containerStatuses":[{"name":"a","ready":true}]})",
       "False ReadinessGatesNotReady: the status of pod readiness gate \"x/y\" is not \"True\", "
       "but False",
       "True"},
      {gate,
       R"({"conditions":[{"type":"x/y","status":"True"}],"containerStatuses":[{"name":"a","ready":true}]})",
       "True", "True"},
      {R"({"initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]})",
       R"({"initContainerStatuses":[{"name":"s"}],"containerStatuses":[{"name":"a","ready":true}]})",
       "False ContainersNotReady: containers with unready status: [s]",
       "False ContainersNotReady: containers with unready status: [s]"},
  };
  for (const auto& c : kCases) {
    const PodStatus status = Conditions(MakePod(c.spec, c.status));
    EXPECT_EQ(Words(status, "Ready"), c.ready) << c.status;
    EXPECT_EQ(Words(status, "ContainersReady"), c.containers) << c.status;
  }
}

TEST(ConditionsTest, Initialized) {
  const std::string spec =
      R"({"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]})";
  const struct {
    std::string status, want;
  } kCases[] = {
      {R"({"initContainerStatuses":[{"name":"i"},{"name":"s"}]})",
       "False ContainersNotInitialized: containers with incomplete status: [i s]"},
      {R"({"initContainerStatuses":[{"name":"i","ready":true},{"name":"s","started":false}]})",
       "False ContainersNotInitialized: containers with incomplete status: [s]"},
      {R"({"initContainerStatuses":[{"name":"i","ready":true},{"name":"s","started":true}]})",
       "True"},
      {R"({"phase":"Succeeded"})", "True PodCompleted"},
      // A restarting sidecar does not reset the condition.
      {R"({"initContainerStatuses":[{"name":"i","ready":true},{"name":"s","started":false}],
           "containerStatuses":[{"name":"a","containerID":"containerd://a"}]})",
       "True"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Words(Conditions(MakePod(spec, c.status)), "Initialized"), c.want) << c.status;
  }
}

TEST(ConditionsTest, KeepsOtherConditionsAndTransitionTimes) {
  const Pod pod = MakePod(R"({"containers":[{"name":"a"}]})", R"({"conditions":[
      {"type":"x/y","status":"True"},
      {"type":"PodScheduled","status":"True","lastTransitionTime":"2020-01-01T00:00:00Z"},
      {"type":"Ready","status":"False","lastTransitionTime":"2020-01-01T00:00:00Z"}],
      "containerStatuses":[{"name":"a"}]})");
  const PodStatus status = Conditions(pod, false);
  EXPECT_EQ(Words(status, "x/y"), "True");
  EXPECT_EQ(Words(status, "PodReadyToStartContainers"), "False");
  EXPECT_EQ(FindCondition(status.conditions, "Ready")->lastTransitionTime.ToString(),
            "2020-01-01T00:00:00Z");
  EXPECT_EQ(FindCondition(status.conditions, "PodScheduled")->lastTransitionTime.ToString(),
            "2020-01-01T00:00:00Z");
  EXPECT_EQ(FindCondition(status.conditions, "Initialized")->lastTransitionTime, kThen);
  EXPECT_EQ(FindCondition(status.conditions, "Ready")->observedGeneration, 3);
}

}  // namespace
}  // namespace cox::kubelet

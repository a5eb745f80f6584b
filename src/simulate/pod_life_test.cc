// SPDX-License-Identifier: Apache-2.0
#include "simulate/pod_life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coxswain/conditions.h"

namespace cox::simulate {
namespace {

using core::v1::Pod;
using std::chrono::seconds;
using testing::HasSubstr;
using Action = PodStep::Action;

const Clock::WallTime kNow{seconds(1'900'000'000)};

Pod MakePod(const char* restart = "Always") {
  Pod pod;
  pod.metadata.name = "p";
  pod.metadata.namespace_ = "default";
  pod.metadata.uid = "u";
  pod.spec.nodeName = "sim-0";
  pod.spec.restartPolicy = restart;
  for (const char* name : {"a", "b"}) {
    auto& container = pod.spec.containers.emplace_back();
    container.name = name;
    container.image = "image";
  }
  pod.status.phase = "Pending";
  return pod;
}
Pod With(Pod pod, std::string_view annotation, std::string value) {
  pod.metadata.annotations[std::string(annotation)] = std::move(value);
  return pod;
}
PodStep Next(const Pod& pod, Clock::WallTime now = kNow) {
  return NextStep(pod, *DesiredStateOf(pod, {}), "1.2.3.4", kNow, now);
}
// Applies a step to the Pod, like the API server.
void Apply(Pod& pod, const PodStep& step) {
  ASSERT_EQ(step.action, Action::kSetStatus);
  pod.status.phase = step.status.phase;
  if (step.status.startTime) pod.status.startTime = step.status.startTime;
  pod.status.conditions = step.status.conditions;
  pod.status.containerStatuses = step.status.containerStatuses;
  pod.status.initContainerStatuses = step.status.initContainerStatuses;
}

TEST(PodLife, BoundPodBecomesRunningAndReady) {
  Pod pod = MakePod();
  const PodStep step = Next(pod);
  ASSERT_EQ(step.action, Action::kSetStatus);
  EXPECT_TRUE(step.needs_address);
  EXPECT_EQ(step.status.phase, "Running");
  EXPECT_EQ(step.status.hostIP, "1.2.3.4");
  EXPECT_EQ(step.status.startTime->unix_seconds(), 1'900'000'000);
  EXPECT_TRUE(IsTrue(step.status.conditions, "Ready"));
  EXPECT_TRUE(IsTrue(step.status.conditions, "ContainersReady"));
  EXPECT_TRUE(IsTrue(step.status.conditions, "Initialized"));
  ASSERT_EQ(step.status.containerStatuses.size(), 2U);
  EXPECT_TRUE(step.status.containerStatuses[1].ready);
  EXPECT_TRUE(step.status.containerStatuses[1].state.running);
  EXPECT_EQ(step.status.containerStatuses[1].containerID, "simulated://u/b");
  Apply(pod, step);
  EXPECT_EQ(Next(pod, kNow + seconds(1000)).action, Action::kNothing);
  EXPECT_FALSE(Next(pod, kNow + seconds(1000)).again);
}

TEST(PodLife, StartsAfterStartupDelay) {
  const Pod pod = With(MakePod(), kStartupDelay, "1500ms");
  const PodStep early = Next(pod, kNow + seconds(1));
  EXPECT_EQ(early.action, Action::kNothing);
  EXPECT_EQ(early.again, std::chrono::milliseconds(500));
  EXPECT_EQ(Next(pod, kNow + std::chrono::milliseconds(1500)).status.phase, "Running");
  EXPECT_EQ(DesiredStateOf(MakePod(), {.startup_delay = seconds(3)})->startup_delay, seconds(3));
  EXPECT_EQ(DesiredStateOf(pod, {.startup_delay = seconds(3)})->startup_delay,
            std::chrono::milliseconds(1500));
}

TEST(PodLife, TerminatesAfterRunForWithExitCode) {
  struct Case {
    const char* restart;
    const char* exit_code;
    const char* phase;  // after run-for; Running: it is restarted
  };
  for (const Case& c : {Case{"Never", "0", "Succeeded"}, Case{"Never", "3", "Failed"},
                        Case{"OnFailure", "0", "Succeeded"}, Case{"OnFailure", "3", "Running"},
                        Case{"Always", "0", "Running"}}) {
    SCOPED_TRACE(std::string(c.restart) + c.exit_code);
    Pod pod = With(With(MakePod(c.restart), kRunFor, "5s"), kExitCode, c.exit_code);
    Apply(pod, Next(pod));
    EXPECT_EQ(Next(pod, kNow + seconds(4)).again, seconds(1));
    const PodStep step = Next(pod, kNow + seconds(5));
    ASSERT_EQ(step.action, Action::kSetStatus);
    EXPECT_EQ(step.status.phase, c.phase);
    EXPECT_FALSE(IsTrue(step.status.conditions, "Ready"));
    EXPECT_FALSE(step.status.containerStatuses[0].ready);
    if (std::string_view(c.phase) == "Running") continue;
    const auto& over = step.status.containerStatuses[0].state.terminated;
    ASSERT_TRUE(over);
    EXPECT_EQ(over->exitCode, std::stoi(c.exit_code));
    EXPECT_EQ(over->finishedAt - over->startedAt, Duration::Seconds(5));
    Apply(pod, step);
    EXPECT_EQ(Next(pod, kNow + seconds(100)).action, Action::kNothing);
  }
}

TEST(PodLife, RestartsBackOff) {
  Pod pod = With(With(MakePod(), kRunFor, "5s"), kExitCode, "1");
  Apply(pod, Next(pod));
  const PodStep crashed = Next(pod, kNow + seconds(5));
  EXPECT_EQ(crashed.again, seconds(10));
  Apply(pod, crashed);
  EXPECT_EQ(pod.status.containerStatuses[0].state.waiting->reason, "CrashLoopBackOff");
  EXPECT_EQ(pod.status.containerStatuses[0].lastState.terminated->exitCode, 1);
  EXPECT_EQ(Next(pod, kNow + seconds(14)).again, seconds(1));
  Apply(pod, Next(pod, kNow + seconds(15)));
  EXPECT_EQ(pod.status.containerStatuses[0].restartCount, 1);
  EXPECT_TRUE(IsTrue(pod.status.conditions, "Ready"));
  EXPECT_EQ(pod.status.startTime->unix_seconds(), 1'900'000'000);
  EXPECT_EQ(RestartBackoff(1), seconds(20));
  EXPECT_EQ(RestartBackoff(9), seconds(300));
}

TEST(PodLife, FailAnnotationKeepsPodPendingOrNotReady) {
  Pod stuck = With(MakePod(), kFail, "ImagePullBackOff");
  const PodStep step = Next(stuck);
  EXPECT_EQ(step.status.phase, "Pending");
  EXPECT_EQ(step.status.containerStatuses[0].state.waiting->reason, "ImagePullBackOff");
  EXPECT_FALSE(IsTrue(step.status.conditions, "Ready"));
  Apply(stuck, step);
  EXPECT_EQ(Next(stuck, kNow + seconds(1000)).action, Action::kNothing);

  const PodStep unready = Next(With(MakePod(), kFail, "NotReady"));
  EXPECT_EQ(unready.status.phase, "Running");
  EXPECT_FALSE(IsTrue(unready.status.conditions, "Ready"));
  EXPECT_EQ(FindCondition(unready.status.conditions, "Ready")->reason, "ContainersNotReady");
}

TEST(PodLife, DeletedPodIsRemoved) {
  Pod pod = MakePod();
  pod.metadata.deletionTimestamp = Time::FromUnix(1);
  EXPECT_EQ(Next(pod).action, Action::kDelete);
  pod.metadata.finalizers = {"batch.kubernetes.io/job-tracking"};
  Apply(pod, Next(pod));
  EXPECT_EQ(pod.status.phase, "Failed");
  EXPECT_EQ(pod.status.containerStatuses[0].state.terminated->exitCode, 143);
  EXPECT_EQ(Next(pod).action, Action::kDelete);
}

TEST(PodLife, InitContainersTerminateAndSidecarsRun) {
  Pod pod = MakePod();
  pod.spec.initContainers.emplace_back().name = "init";
  pod.spec.initContainers.emplace_back().name = "sidecar";
  pod.spec.initContainers.back().restartPolicy = "Always";
  const PodStep step = Next(pod);
  EXPECT_EQ(step.status.initContainerStatuses[0].state.terminated->reason, "Completed");
  EXPECT_TRUE(step.status.initContainerStatuses[1].state.running);
}

TEST(PodLife, InvalidAnnotationsAreNamed) {
  for (const auto& [name, value] :
       std::initializer_list<std::pair<std::string_view, const char*>>{{kRunFor, "5"},
                                                                       {kRunFor, "-5s"},
                                                                       {kStartupDelay, ""},
                                                                       {kExitCode, "256"},
                                                                       {kExitCode, "x"}}) {
    const auto desired = DesiredStateOf(With(MakePod(), name, value), {});
    ASSERT_FALSE(desired.ok()) << name << value;
    EXPECT_THAT(desired.status().message(), HasSubstr(std::string(name)));
  }
}

TEST(PodLife, TrimmedPodIsSufficient) {
  for (const bool ended : {false, true}) {
    Pod pod = With(With(MakePod(ended ? "Never" : "Always"), kRunFor, "5s"), kExitCode, "1");
    pod.metadata.labels["app"] = "web";
    pod.metadata.annotations["other"] = "x";
    for (int i = 0; i < 3; ++i) {
      Pod kept = pod;
      KeepUsedFields(kept);
      EXPECT_TRUE(kept.metadata.labels.empty());
      EXPECT_FALSE(kept.metadata.annotations.contains("other"));
      const Clock::WallTime now = kNow + seconds(20 * i);
      EXPECT_TRUE(DeepEqual(Next(kept, now).status, Next(pod, now).status));
      if (Next(pod, now).action == Action::kSetStatus) Apply(pod, Next(pod, now));
    }
  }
}

}  // namespace
}  // namespace cox::simulate

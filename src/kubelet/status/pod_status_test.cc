// SPDX-License-Identifier: Apache-2.0
#include "kubelet/status/pod_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coxswain/conditions.h"
#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using core::v1::ContainerStatus;
using core::v1::Pod;
using core::v1::PodStatus;
using runtime::ContainerState;
using runtime::PodState;
using std::chrono::seconds;
using testing::Exited;
using testing::kNow;
using testing::MakePod;
using testing::Running;
using testing::RunningSandbox;

PodState With(std::vector<ContainerState> containers) {
  PodState state = RunningSandbox();
  state.containers = std::move(containers);
  return state;
}

// "running", "waiting:Reason", "terminated:1", then "<lastState" if there is one.
std::string Words(const ContainerStatus& status) {
  std::string out;
  if (status.state.running) out = "running";
  if (status.state.waiting) out = "waiting:" + status.state.waiting->reason;
  if (status.state.terminated) {
    out = "terminated:" + std::to_string(status.state.terminated->exitCode);
  }
  if (status.lastState.terminated) {
    out += "<" + std::to_string(status.lastState.terminated->exitCode);
  }
  if (status.restartCount != 0) out += "#" + std::to_string(status.restartCount);
  if (status.started.value_or(false)) out += " started";
  if (status.ready) out += " ready";
  return out;
}

struct Case {
  std::string name;
  std::string spec;
  PodState state;
  std::string phase;
  std::string container;  // of the first main container
  std::string before = "{}";
  std::map<std::string, WaitingReason, std::less<>> waiting = {};
  PodProbeResults probes = {};
  bool ended = false;
};

constexpr char kAlways[] = R"({"restartPolicy":"Always","containers":[{"name":"a","image":"i"}]})";
constexpr char kOnFailure[] =
    R"({"restartPolicy":"OnFailure","containers":[{"name":"a","image":"i"}]})";
constexpr char kNever[] = R"({"restartPolicy":"Never","containers":[{"name":"a","image":"i"}]})";
constexpr char kProbed[] = R"({"restartPolicy":"Always","containers":[{"name":"a","image":"i",
    "readinessProbe":{},"startupProbe":{}}]})";

constexpr char kSidecar[] = R"({"restartPolicy":"Never","initContainers":[{"name":"s","image":"i",
    "restartPolicy":"Always"}],"containers":[{"name":"a","image":"i"}]})";

PodProbeResults Results(ProbeOutcome startup, ProbeOutcome readiness) {
  PodProbeResults results;
  results.by_id["a0"] = {.startup = startup, .readiness = readiness};
  return results;
}

TEST(PodStatusTest, PhaseAndContainer) {
  const std::string init =
      R"({"restartPolicy":"Never","initContainers":[{"name":"i","image":"i"}],"containers":[{"name":"a","image":"i"}]})";
  const std::string ran = R"({"containerStatuses":[{"name":"a","restartCount":2,
      "containerID":"containerd://x","state":{"running":{"startedAt":"2030-01-01T00:00:00Z"}}}]})";
  const Case kCases[] = {
      {"new", kAlways, {}, "Pending", "waiting:ContainerCreating"},
      {"new with init containers", init, {}, "Pending", "waiting:PodInitializing"},
      {"init runs", init, With({Running("i")}), "Pending", "waiting:PodInitializing"},
      {"init failed for good", init, With({Exited("i", 1)}), "Failed", "waiting:PodInitializing"},
      {"init is done", init, With({Exited("i", 0)}), "Pending", "waiting:PodInitializing"},
      {"init was removed", init, With({Running("a")}), "Running", "running started ready"},
      {"runs", kAlways, With({Running("a")}), "Running", "running started ready"},
      {"second life", kAlways, With({Running("a", "i", 1), Exited("a", 3)}), "Running",
       "running<3#1 started ready"},
      {"image is pulled",
       kAlways,
       With({}),
       "Pending",
       "waiting:ErrImagePull",
       "{}",
       {{"a", {"ErrImagePull", "no"}}}},
      {"crashes",
       kAlways,
       With({Exited("a", 1, 3)}),
       "Running",
       "waiting:CrashLoopBackOff<1#3",
       "{}",
       {{"a", {"CrashLoopBackOff", "back-off"}}}},
      {"ended, to be restarted", kAlways, With({Exited("a", 0)}), "Running", "terminated:0"},
      {"failed, to be restarted", kOnFailure, With({Exited("a", 1)}), "Running", "terminated:1"},
      {"succeeded", kOnFailure, With({Exited("a", 0)}), "Succeeded", "terminated:0"},
      {"failed", kNever, With({Exited("a", 2)}), "Failed", "terminated:2"},
      {"final stays final", kAlways, With({Running("a")}), "Failed", "running started ready",
       R"({"phase":"Failed"})"},
      {"done, and its sidecar runs", kSidecar, With({Exited("a", 0), Running("s")}), "Running",
       "terminated:0"},
      {"done, and its sidecar too", kSidecar, With({Exited("a", 0), Exited("s", 0)}), "Succeeded",
       "terminated:0"},
      {"probes not yet", kProbed, With({Running("a")}), "Running", "running"},
      {"started, not ready",
       kProbed,
       With({Running("a")}),
       "Running",
       "running started",
       "{}",
       {},
       Results(ProbeOutcome::kSuccess, ProbeOutcome::kFailure)},
      {"ready",
       kProbed,
       With({Running("a")}),
       "Running",
       "running started ready",
       "{}",
       {},
       Results(ProbeOutcome::kSuccess, ProbeOutcome::kSuccess)},
      {"the runtime lost it", kAlways, With({}), "Running", "waiting:ContainerCreating<137#2", ran},
      {"lost while the Pod ended", kAlways, {}, "Failed", "terminated:137#2", ran, {}, {}, true},
      {"deleted before it began",
       kAlways,
       {},
       "Failed",
       "waiting:ContainerCreating",
       "{}",
       {},
       {},
       true},
      {"deleted, ended well",
       kAlways,
       With({Exited("a", 0)}),
       "Succeeded",
       "terminated:0",
       "{}",
       {},
       {},
       true},
  };
  for (const Case& c : kCases) {
    const Pod pod = MakePod(c.spec, c.before);
    const PodStatus status = MakePodStatus({.pod = pod,
                                            .state = c.state,
                                            .probes = c.probes,
                                            .now = kNow,
                                            .host_ips = {"192.0.2.1"},
                                            .waiting = c.waiting,
                                            .ended = c.ended});
    EXPECT_EQ(status.phase, c.phase) << c.name;
    ASSERT_EQ(status.containerStatuses.size(), 1U) << c.name;
    EXPECT_EQ(Words(status.containerStatuses[0]), c.container) << c.name;
  }
}

TEST(PodStatusTest, ReportsAddressesAndContainers) {
  const Pod pod = MakePod(R"({"restartPolicy":"Always","containers":[{"name":"a","image":"i",
      "resources":{"requests":{"cpu":"1"}},"volumeMounts":[{"name":"v","mountPath":"/v","readOnly":true}]}]})");
  const PodState state = With({Running("a")});
  const PodStatus status = MakePodStatus({.pod = pod,
                                          .state = state,
                                          .probes = {},
                                          .now = kNow,
                                          .host_ips = {"192.0.2.1", "2001:db8::1"}});
  EXPECT_EQ(status.hostIP, "192.0.2.1");
  EXPECT_EQ(status.hostIPs.size(), 2U);
  EXPECT_EQ(status.podIP, "10.0.0.7");
  EXPECT_EQ(status.podIPs.size(), 1U);
  EXPECT_EQ(status.qosClass, "Burstable");
  EXPECT_EQ(status.observedGeneration, 3);
  EXPECT_EQ(status.startTime->unix_seconds(), 1'900'000'000);
  const ContainerStatus& a = status.containerStatuses[0];
  EXPECT_EQ(a.containerID, "containerd://a0");
  EXPECT_EQ(a.imageID, "sha256:1");
  EXPECT_EQ(a.allocatedResources.Get("cpu")->ToString(), "1");
  EXPECT_EQ(a.volumeMounts[0].recursiveReadOnly, "Disabled");
}

TEST(PodStatusTest, SameStateGivesSameStatus) {
  Pod pod = MakePod(kAlways);
  const PodState state = With({Running("a")});
  const PodStatus first = MakePodStatus(
      {.pod = pod, .state = state, .probes = {}, .now = kNow, .host_ips = {"192.0.2.1"}});
  pod.status = first;
  const PodStatus later = MakePodStatus({.pod = pod,
                                         .state = state,
                                         .probes = {},
                                         .now = kNow + seconds(100),
                                         .host_ips = {"192.0.2.1"}});
  EXPECT_TRUE(DeepEqual(first, later));
}

TEST(PodStatusTest, ContainerKilledForRestartKeepsPodRunning) {
  const Pod pod = MakePod(kOnFailure);
  const PodState state = With({Exited("a", 0)});  // its liveness probe had failed
  const PodStatus status = MakePodStatus(
      {.pod = pod, .state = state, .probes = {}, .now = kNow, .host_ips = {}, .restart = {"a0"}});
  EXPECT_EQ(status.phase, "Running");
}

TEST(PodStatusTest, EvictionSetsReasonAndDisruptionTarget) {
  const Pod pod = MakePod(kAlways);
  const PodState state = With({Exited("a", 137)});
  StatusInput input{.pod = pod,
                    .state = state,
                    .probes = {},
                    .now = kNow,
                    .host_ips = {},
                    .end = PodEnd{"Evicted", "The node was low on resource: memory.", kNow}};
  EXPECT_EQ(MakePodStatus(input).phase, "Running");  // not ended yet
  EXPECT_EQ(MakePodStatus(input).reason, "");
  input.ended = true;
  const PodStatus status = MakePodStatus(input);
  EXPECT_EQ(status.phase, "Failed");
  EXPECT_EQ(status.reason, "Evicted");
  EXPECT_EQ(FindCondition(status.conditions, "DisruptionTarget")->reason, "TerminationByKubelet");
}

TEST(PodStatusTest, EndedPodKeepsAddress) {
  const Pod pod = MakePod(kNever, R"({"podIP":"10.0.0.7","podIPs":[{"ip":"10.0.0.7"}]})");
  PodState state = With({Exited("a", 0)});
  state.sandboxes[0].ready = false;
  StatusInput input{.pod = pod, .state = state, .probes = {}, .now = kNow, .host_ips = {}};
  EXPECT_EQ(MakePodStatus(input).podIP, "");
  input.ended = true;
  EXPECT_EQ(MakePodStatus(input).podIP, "10.0.0.7");
}

}  // namespace
}  // namespace cox::kubelet

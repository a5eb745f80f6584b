// SPDX-License-Identifier: Apache-2.0
#include "kubelet/actions/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using core::v1::Pod;
using runtime::ContainerState;
using runtime::PodState;
using std::chrono::seconds;
using testing::Exited;
using ::testing::HasSubstr;
using testing::kNow;
using testing::MakePod;
using testing::Running;
using testing::RunningSandbox;

// Formats the actions: "kill web/liveness+ stop s0 sandbox 1 start a/0 wait b remove x ended".
std::string Words(const PodActions& actions) {
  static const char* const kWhy[] = {"changed", "liveness", "startup", "unknown",
                                     "all",     "sandbox",  "end"};
  std::string out;
  const auto add = [&out](const std::string& word) { out += (out.empty() ? "" : " ") + word; };
  for (const auto& k : actions.kill) {
    add("kill " + k.id + "/" + kWhy[static_cast<int>(k.why)] + (k.restart ? "+" : "") +
        (k.wait_for_turn ? "/waits" : ""));
  }
  for (const auto& id : actions.stop_sandboxes) add("stop " + id);
  if (actions.make_sandbox) add("sandbox " + std::to_string(*actions.make_sandbox));
  for (const auto& s : actions.start) add("start " + s.name + "/" + std::to_string(s.attempt));
  for (const auto& w : actions.waiting) add("wait " + w.name);
  for (const auto& id : actions.remove) add("remove " + id);
  if (actions.ended) {
    add("ended");
  } else if (actions.ending) {
    add("ending");
  }
  return out;
}

struct Case {
  std::string name;
  std::string spec;
  PodState state;
  PodProbeResults probes;
  std::string want;
  std::string status = "{}";
};

PodState With(std::vector<ContainerState> containers) {
  PodState state = RunningSandbox();
  state.containers = std::move(containers);
  return state;
}
PodState DeadSandbox(std::vector<ContainerState> containers) {
  PodState state = With(std::move(containers));
  state.sandboxes[0].ready = false;
  state.sandboxes[0].attempt = 2;
  return state;
}
ContainerState InPhase(ContainerState state, ContainerState::Phase phase) {
  state.phase = phase;
  return state;
}
ContainerState OldSandbox(ContainerState state) {
  state.created = kNow - seconds(600);
  return state;
}
PodProbeResults Startup(const std::string& id, ProbeOutcome outcome) {
  PodProbeResults results;
  results.by_id[id].startup = outcome;
  return results;
}
PodProbeResults Liveness(const std::string& id, ProbeOutcome outcome) {
  PodProbeResults results;
  results.by_id[id].liveness = outcome;
  return results;
}

std::string DecideWords(const Case& c) {
  const Pod pod = MakePod(c.spec, c.status);
  const Backoff backoff;
  return Words(Decide({pod, c.state, c.probes, backoff, kNow}));
}
void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(DecideWords(c), c.want) << c.name;
}

constexpr char kOne[] = R"({"restartPolicy":"Always","containers":[{"name":"a","image":"i"}]})";
constexpr char kOneOnFailure[] =
    R"({"restartPolicy":"OnFailure","containers":[{"name":"a","image":"i"}]})";
constexpr char kOneNever[] = R"({"restartPolicy":"Never","containers":[{"name":"a","image":"i"}]})";

TEST(DecideTest, Sandbox) {
  PodState two = With({Running("a")});
  two.sandboxes.push_back(two.sandboxes[0]);
  two.sandboxes[1].id = "s1";
  PodState no_ip = With({});
  no_ip.sandboxes[0].ips.clear();
  const std::string host =
      R"({"hostNetwork":true,"restartPolicy":"Always","containers":[{"name":"a","image":"i"}]})";
  Check({
      {"a new Pod", kOne, {}, {}, "sandbox 0 start a/0"},
      {"all is well", kOne, With({Running("a")}), {}, ""},
      {"the sandbox died: containers first",
       kOne,
       DeadSandbox({Running("a")}),
       {},
       "kill a0/sandbox"},
      {"then a new one", kOne, DeadSandbox({Exited("a", 137)}), {}, "sandbox 3 start a/1"},
      {"not for what is done", kOneNever, DeadSandbox({Exited("a", 1)}), {}, "ended"},
      {"not for what succeeded", kOneOnFailure, DeadSandbox({Exited("a", 0)}), {}, "ended"},
      {"two are up", kOne, two, {}, "kill a0/sandbox"},
      {"no address", kOne, no_ip, {}, "stop s0 sandbox 1 start a/0"},
      {"none is needed with the host's", host, no_ip, {}, "start a/0"},
  });
}

TEST(DecideTest, RestartPolicies) {
  Check({
      {"always, success", kOne, With({Exited("a", 0)}), {}, "start a/1"},
      {"always, failure", kOne, With({Exited("a", 1, 4)}), {}, "start a/5"},
      {"on failure, success", kOneOnFailure, With({Exited("a", 0)}), {}, "stop s0 ending"},
      {"on failure, failure", kOneOnFailure, With({Exited("a", 1)}), {}, "start a/1"},
      {"never", kOneNever, With({Exited("a", 1)}), {}, "stop s0 ending"},
      {"made and never started",
       kOneNever,
       With({InPhase(Running("a"), ContainerState::Phase::kCreated)}),
       {},
       "start a/1"},
      {"lost",
       kOneNever,
       With({InPhase(Running("a"), ContainerState::Phase::kUnknown)}),
       {},
       "kill a0/unknown+"},
      {"the count goes on where the runtime forgot",
       kOne,
       With({}),
       {},
       "start a/8",
       R"({"containerStatuses":[{"name":"a","restartCount":7,"containerID":"containerd://x"}]})"},
      {"one of two is done",
       R"({"restartPolicy":"OnFailure","containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]})",
       With({Exited("a", 0), Running("b")}),
       {},
       ""},
      {"a Pod that is over stays over",
       kOne,
       With({Exited("a", 1)}),
       {},
       "stop s0 ending",
       R"({"phase":"Failed"})"},
  });
}

TEST(DecideTest, RestartRules) {
  const std::string spec = R"({"restartPolicy":"Never","initContainers":[{"name":"i","image":"i"}],
    "containers":[{"name":"a","image":"i","restartPolicy":"Never","restartPolicyRules":[
      {"action":"Restart","exitCodes":{"operator":"In","values":[42]}},
      {"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[43]}}]},
    {"name":"b","image":"i"}]})";
  Check({
      {"one", spec, With({Exited("a", 42), Running("b"), Exited("i", 0)}), {}, "start a/1"},
      {"none", spec, With({Exited("a", 1), Running("b"), Exited("i", 0)}), {}, ""},
      {"all: what runs first",
       spec,
       With({Exited("a", 43), Running("b"), Exited("i", 0)}),
       {},
       "kill b0/all"},
      {"all: then none is left",
       spec,
       With({Exited("a", 43), Exited("b", 137), Exited("i", 0)}),
       {},
       "remove a0 remove b0 remove i0"},
  });
}

TEST(DecideTest, Changes) {
  const std::string changed =
      R"({"restartPolicy":"Never","containers":[{"name":"a","image":"new"}]})";
  const std::string live = R"({"restartPolicy":"%","containers":[{"name":"a","image":"i",
      "livenessProbe":{"terminationGracePeriodSeconds":3},"startupProbe":{}}]})";
  const auto with_policy = [&live](const std::string& policy) {
    std::string out = live;
    return out.replace(out.find('%'), 1, policy);
  };
  Check({
      {"another image", changed, With({Running("a")}), {}, "kill a0/changed+"},
      {"liveness", with_policy("Always"), With({Running("a")}),
       Liveness("a0", ProbeOutcome::kFailure), "kill a0/liveness+"},
      {"liveness, never", with_policy("Never"), With({Running("a")}),
       Liveness("a0", ProbeOutcome::kFailure), "kill a0/liveness"},
      {"liveness of the life before", with_policy("Always"), With({Running("a", "i", 1)}),
       Liveness("a0", ProbeOutcome::kFailure), ""},
      {"startup", with_policy("Always"), With({Running("a")}),
       Startup("a0", ProbeOutcome::kFailure), "kill a0/startup+"},
      {"startup not yet", with_policy("Always"), With({Running("a")}), {}, ""},
  });
}

TEST(DecideTest, ProbeGracePeriodOverridesPodGracePeriod) {
  const Pod pod =
      MakePod(R"({"terminationGracePeriodSeconds":60,"containers":[{"name":"a","image":"i",
      "livenessProbe":{"terminationGracePeriodSeconds":3}}]})");
  const PodState state = With({Running("a")});
  const Backoff backoff;
  const PodProbeResults probes = Liveness("a0", ProbeOutcome::kFailure);
  const PodActions actions = Decide({pod, state, probes, backoff, kNow});
  ASSERT_EQ(actions.kill.size(), 1U);
  EXPECT_EQ(actions.kill[0].grace, seconds(3));
  EXPECT_EQ(actions.kill[0].message, "Container a failed liveness probe, will be restarted");
}

constexpr char kInits[] = R"({"restartPolicy":"Always",
    "initContainers":[{"name":"i0","image":"i"},{"name":"s","image":"i","restartPolicy":"Always","startupProbe":{}},{"name":"i1","image":"i"}],
    "containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]})";

TEST(DecideTest, InitContainersAndSidecars) {
  const PodProbeResults up = Startup("s0", ProbeOutcome::kSuccess);
  const std::string never =
      std::string(kInits).replace(std::string(kInits).find("Always"), 6, "Never");
  Check({
      {"only the first", kInits, {}, {}, "sandbox 0 start i0/0"},
      {"it runs", kInits, With({Running("i0")}), {}, ""},
      {"it is done: the sidecar", kInits, With({Exited("i0", 0)}), {}, "start s/0"},
      {"it failed", kInits, With({Exited("i0", 1)}), {}, "start i0/1"},
      {"it failed for good", never, With({Exited("i0", 1)}), {}, "stop s0 ending"},
      {"the sidecar is coming up", kInits, With({Running("s"), Exited("i0", 0)}), {}, ""},
      {"the sidecar is up", kInits, With({Running("s"), Exited("i0", 0)}), up, "start i1/0"},
      {"the sidecar failed", kInits, With({Exited("s", 1), Exited("i0", 0)}), {}, "start s/1"},
      {"main ones when all is done", kInits, With({Exited("i1", 0), Running("s"), Exited("i0", 0)}),
       up, "start a/0 start b/0"},
      {"a sidecar is restarted beside a later init container",
       kInits,
       With({Running("i1"), Exited("s", 1), Exited("i0", 0)}),
       {},
       "start s/1"},
      {"and beside main containers",
       kInits,
       With({Running("a"), Running("b"), Exited("s", 0), Exited("i1", 0)}),
       {},
       "start s/1"},
      {"remains of init containers were removed", kInits,
       With({Running("a"), Running("b"), Running("s")}), up, ""},
      {"a new sandbox: all anew",
       kInits,
       With({OldSandbox(Exited("a", 137)), OldSandbox(Exited("i1", 0)), OldSandbox(Exited("s", 0)),
             OldSandbox(Exited("i0", 0))}),
       {},
       "start i0/1"},
      {"the main ones are done: sidecars end", never,
       With({Exited("a", 0), Exited("b", 1), Running("s"), Exited("i1", 0)}), up,
       "kill s0/end ending"},
      {"a sidecar that ended is not started for its own sake",
       never,
       With({Exited("a", 0), Exited("b", 1), Exited("s", 1), Exited("i1", 0)}),
       {},
       "stop s0 ending"},
  });
}

TEST(DecideTest, EphemeralContainersRunOnce) {
  const std::string spec = R"({"restartPolicy":"Always","containers":[{"name":"a","image":"i"}],
      "ephemeralContainers":[{"name":"e","image":"i"}]})";
  Check({
      {"new", spec, With({Running("a")}), {}, "start e/0"},
      {"there", spec, With({Running("a"), Running("e")}), {}, ""},
      {"ended", spec, With({Running("a"), Exited("e", 1)}), {}, ""},
      {"ended and removed",
       spec,
       With({Running("a")}),
       {},
       "",
       R"({"ephemeralContainerStatuses":[{"name":"e","containerID":"containerd://e0"}]})"},
  });
}

TEST(DecideTest, StopsMainContainersThenSidecarsInReverseThenSandbox) {
  Pod pod = MakePod(R"({"restartPolicy":"Always","initContainers":[
      {"name":"s1","image":"i","restartPolicy":"Always"},{"name":"s2","image":"i","restartPolicy":"Always"}],
      "containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}],"ephemeralContainers":[{"name":"e","image":"i"}]})");
  pod.metadata.deletionTimestamp = Time::FromUnix(1'900'000'000 + 20);
  PodState state = With({Running("e"), Running("a"), Running("b"), Running("s1"), Running("s2")});
  const Backoff backoff;
  const PodProbeResults probes;
  const auto next = [&] { return Decide({pod, state, probes, backoff, kNow}); };
  EXPECT_EQ(Words(next()),
            "kill e0/end kill a0/end kill b0/end kill s20/end/waits kill s10/end/waits ending");
  for (const ContainerToKill& kill : next().kill) EXPECT_EQ(kill.grace, seconds(20)) << kill.name;
  state.containers = {Exited("e", 0), Exited("a", 0), Running("b"), Running("s1"), Running("s2")};
  EXPECT_EQ(Words(next()), "kill b0/end kill s20/end/waits kill s10/end/waits ending");
  state.containers[2] = Exited("b", 0);
  EXPECT_EQ(Words(next()), "kill s20/end kill s10/end/waits ending");
  state.containers[4] = Exited("s2", 0);
  EXPECT_EQ(Words(next()), "kill s10/end ending");
  state.containers[3] = Exited("s1", 0);
  EXPECT_EQ(Words(next()), "stop s0 ending");
  state.sandboxes[0].ready = false;
  EXPECT_EQ(Words(next()), "ended");
  // A sidecar that ended before its turn delays no other.
  state = With({Exited("e", 0), Exited("a", 0), Running("b"), Running("s1"), Exited("s2", 1)});
  EXPECT_EQ(Words(next()), "kill b0/end kill s10/end/waits ending");
  state.containers[2] = Exited("b", 0);
  EXPECT_EQ(Words(next()), "kill s10/end ending");
  // No container was ever created.
  state = {};
  EXPECT_EQ(Words(next()), "ended");
}

TEST(DecideTest, GracePeriodIsRemainingTimeButAtLeastOneSecond) {
  Pod pod = MakePod(kOne);
  const PodState state = With({Running("a")});
  const Backoff backoff;
  const PodProbeResults probes;
  pod.metadata.deletionTimestamp = Time::FromUnix(1'900'000'000 - 100);
  EXPECT_EQ(Decide({pod, state, probes, backoff, kNow}).kill[0].grace, seconds(1));
  // An eviction deadline shortens the grace period of a deletion.
  pod.metadata.deletionTimestamp = Time::FromUnix(1'900'000'000 + 100);
  const PodActions actions =
      Decide({pod, state, probes, backoff, kNow, PodEnd{"Evicted", "low", kNow + seconds(5)}});
  EXPECT_EQ(actions.kill[0].grace, seconds(5));
  EXPECT_EQ(actions.why_ended->reason, "Evicted");
}

TEST(DecideTest, GracePeriodUsesNodeClock) {
  Pod pod = MakePod(kOne);
  const PodState state = With({Running("a")});
  for (const int off : {-3600, 3600}) {
    pod.metadata.deletionTimestamp = Time::FromUnix(1'900'000'000 + off);
    const PodActions actions =
        Decide({pod, state, {}, {}, kNow, std::nullopt, {}, kNow + seconds(30)});
    EXPECT_EQ(actions.kill[0].grace, seconds(30));
  }
}

// The runtime ignores a stop of a created container, so waiting for its end would never return.
TEST(DecideTest, CreatedContainerThatNeverStartedIsNotStopped) {
  const ContainerState made = InPhase(Running("a"), ContainerState::Phase::kCreated);
  Check({{"a new sandbox", kOne, DeadSandbox({made}), {}, "sandbox 3 start a/1"},
         {"whatever the policy", kOneNever, DeadSandbox({made}), {}, "sandbox 3 start a/1"}});
  Pod pod = MakePod(kOne);
  pod.metadata.deletionTimestamp = Time::FromUnix(1'900'000'000 + 20);
  PodState state = With({made});
  EXPECT_EQ(Words(Decide({pod, state, {}, {}, kNow})), "stop s0 ending");
  state.sandboxes[0].ready = false;
  EXPECT_EQ(Words(Decide({pod, state, {}, {}, kNow})), "ended");
}

TEST(DecideTest, ContainerThatFailsToStartBacksOff) {
  const Pod pod = MakePod(kOne);
  ContainerState made = InPhase(Running("a"), ContainerState::Phase::kCreated);
  made.created = kNow - seconds(4);
  const PodState state = With({made});
  Backoff backoff;
  backoff.Began("a", kNow - seconds(4), kNow - seconds(4));
  const PodActions actions = Decide({pod, state, {}, backoff, kNow});
  EXPECT_EQ(Words(actions), "wait a");
  EXPECT_EQ(actions.requeue_at, kNow + seconds(6));
}

TEST(DecideTest, ContainerKilledForRestartIsRestartedUnderAnyPolicy) {
  const PodState state = With({Exited("a", 0)});
  for (const char* spec : {kOneOnFailure, kOneNever}) {
    const Pod pod = MakePod(spec);
    EXPECT_EQ(Words(Decide({pod, state, {}, {}, kNow, std::nullopt, {"a0"}})), "start a/1") << spec;
    EXPECT_EQ(Words(Decide({pod, state, {}, {}, kNow})), "stop s0 ending") << spec;
  }
}

TEST(DecideTest, CrashingContainerBacksOff) {
  const Pod pod = MakePod(kOne);
  const PodState state = With({Exited("a", 1, 2, seconds(4))});
  const PodProbeResults probes;
  Backoff backoff;
  backoff.Began("a", kNow - seconds(100), kNow - seconds(100));
  backoff.Began("a", kNow - seconds(30), kNow - seconds(30));
  PodActions actions = Decide({pod, state, probes, backoff, kNow});
  EXPECT_EQ(Words(actions), "wait a");
  EXPECT_EQ(actions.waiting[0].message,
            "back-off 20s restarting failed container=a pod=web_default(u1)");
  EXPECT_EQ(actions.requeue_at, kNow + seconds(16));
  actions = Decide({pod, state, probes, backoff, kNow + seconds(16)});
  EXPECT_EQ(Words(actions), "start a/3");
  EXPECT_EQ(actions.start[0].failed, kNow - seconds(4));
}

TEST(DecideTest, ActiveDeadlineEndsPod) {
  const Pod pod = MakePod(
      R"({"restartPolicy":"Always","activeDeadlineSeconds":60,"containers":[{"name":"a","image":"i"}]})",
      R"({"startTime":")" + Time::FromUnix(1'900'000'000 - 50).ToString() + R"("})");
  const PodState state = With({Running("a")});
  const Backoff backoff;
  const PodProbeResults probes;
  PodActions actions = Decide({pod, state, probes, backoff, kNow});
  EXPECT_EQ(Words(actions), "");
  EXPECT_EQ(actions.requeue_at, kNow + seconds(10));
  actions = Decide({pod, state, probes, backoff, kNow + seconds(10)});
  EXPECT_EQ(Words(actions), "kill a0/end ending");
  EXPECT_EQ(actions.why_ended->reason, "DeadlineExceeded");
}

}  // namespace
}  // namespace cox::kubelet

// SPDX-License-Identifier: Apache-2.0
#include "agent.h"
#include "net/tcp.h"

// The life cycle of Pods on a node.
namespace cox::kubelet {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kWeb = R"({"containers":[{"name":"c","image":"img:1"}]})";

using PodsTest = AgentTest;

TEST_F(PodsTest, PodRunsAndIsStoppedWhenDeleted) {
  StartAgent();
  const Pod made = Create("web", R"({"containers":[{"name":"c","image":"img:1",
      "env":[{"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}],
      "volumeMounts":[{"name":"e","mountPath":"/e"}]}],"volumes":[{"name":"e","emptyDir":{}}]})");
  const Pod pod = Await("web", IsReady);
  EXPECT_EQ(pod.status.phase, "Running");
  EXPECT_THAT(pod.status.podIP, StartsWith("10.0."));
  EXPECT_EQ(pod.status.hostIP, "192.0.2.10");
  EXPECT_THAT(pod.status.containerStatuses[0].containerID, StartsWith("containerd://container-"));
  EXPECT_EQ(pod.status.containerStatuses[0].restartCount, 0);
  EXPECT_THAT(runtime->calls(), ElementsAre("RunSandbox web", "PullImage img:1",
                                            "CreateContainer web/c", "StartContainer web/c"));
  const auto config = runtime->ConfigOf(IdOf(pod, "c"));
  EXPECT_EQ(config.envs.back().value, pod.status.podIP);
  EXPECT_EQ(config.mounts.size(), 3U);  // e, /etc/hosts, the termination log
  EXPECT_THAT(events.events(),
              IsSupersetOf({StartsWith("Normal Pulling"), StartsWith("Normal Pulled Successfully"),
                            StartsWith("Normal Created"), StartsWith("Normal Started")}));
  const auto found = manager->FindContainer(*ctx, {"default", "web"}, "", "c");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->id, IdOf(pod, "c"));
  EXPECT_EQ(found->log_path, root / "logs/pods/default_web_" + made.metadata.uid + "/c/0.log");
  const std::string link = "logs/containers/web_default_c-" + found->id + ".log";
  EXPECT_TRUE(root.Has(link));
  EXPECT_TRUE(manager->SandboxOf(*ctx, {"default", "web"}, "").ok());
  EXPECT_TRUE(manager->Ready().ok());
  ASSERT_EQ(manager->Pods().size(), 1U);
  EXPECT_EQ(manager->Pods()[0].status.phase, "Running");

  ASSERT_TRUE(client().Delete<Pod>(*ctx, {"default", "web"}).ok());
  AwaitGone("web");
  EXPECT_THAT(runtime->calls(), Contains(StartsWith("StopContainer web/c ")));
  EXPECT_THAT(runtime->calls(), Contains("RemoveSandbox web"));
  EXPECT_TRUE(events.Has("Normal Killing Stopping container c"));
  EXPECT_FALSE(root.Has("kubelet/pods/" + made.metadata.uid));
  EXPECT_FALSE(root.Has(link));
  EXPECT_FALSE(root.Has("logs/pods/default_web_" + made.metadata.uid));
}

TEST_F(PodsTest, CrashingContainerIsRestartedWithBackoff) {
  StartAgent();
  const Pod pod = Create("web", kWeb);
  Await("web", IsReady);
  const auto restarts = [](int count) {
    return [count](const Pod& is) {
      return RestartsOf(is) == count && is.status.containerStatuses[0].state.running;
    };
  };
  // The first restart is immediate.
  runtime->Exit(IdOf(pod, "c"), 1);
  const Pod second = Await("web", restarts(1));
  EXPECT_EQ(second.status.containerStatuses[0].lastState.terminated->exitCode, 1);
  // The next ones are after 10 s and 20 s.
  for (const auto& [count, wait] : {std::pair{2, seconds(10)}, std::pair{3, seconds(20)}}) {
    const auto ended = clock->Now();
    runtime->Exit(IdOf(pod, "c"), 1);
    const Pod waits =
        Await("web", [](const Pod& is) { return WaitsFor(is) == "CrashLoopBackOff"; });
    EXPECT_THAT(waits.status.containerStatuses[0].state.waiting->message,
                StartsWith("back-off " + std::to_string(wait.count()) +
                           "s restarting failed container=c pod=web_default("));
    Eventually("web", restarts(count));
    EXPECT_GE(clock->Now() - ended, wait);
  }
  EXPECT_TRUE(events.Has("Warning BackOff Back-off restarting failed container c in pod web_"));
  // Only the newest terminated container is kept.
  AwaitCall("RemoveContainer web/c");
  const auto state = runtime->GetPod(*ctx, pod.metadata.uid);
  ASSERT_TRUE(state.ok());
  EXPECT_LE(state->containers.size(), 3U);
  const auto previous = manager->FindContainer(*ctx, {"default", "web"}, "", "c", true);
  ASSERT_TRUE(previous.ok());
  EXPECT_EQ(previous->attempt, 2U);
}

// CVE-2019-11245: containers were started as root at the second start, when the image was present.
TEST_F(PodsTest, ImageUserIsKeptOnRestart) {
  runtime->Publish("plain:1", 5);
  StartAgent();
  const Pod pod = Create("web", R"({"securityContext":{"runAsNonRoot":true},
      "containers":[{"name":"c","image":"plain:1"}]})");
  const auto user = [&] {
    return runtime->ConfigOf(IdOf(pod, "c")).linux->security_context->run_as_user->value;
  };
  Await("web", IsReady);
  EXPECT_EQ(user(), 5);
  runtime->Exit(IdOf(pod, "c"), 1);
  Await("web", [](const Pod& is) { return RestartsOf(is) == 1 && IsReady(is); });
  EXPECT_EQ(user(), 5);
}

TEST_F(PodsTest, InitContainersSidecarsAndMainStartInOrderAndStopInReverse) {
  StartAgent();
  const Pod pod = Create("web", R"({"initContainers":[{"name":"i","image":"img:1"},
      {"name":"s","image":"img:1","restartPolicy":"Always"}],
      "containers":[{"name":"m","image":"img:1"}]})");
  AwaitCall("StartContainer web/i");
  const Pod starting = Await("web", [](const Pod& is) {
    return !is.status.initContainerStatuses.empty() &&
           is.status.initContainerStatuses[0].state.running;
  });
  EXPECT_EQ(starting.status.phase, "Pending");
  EXPECT_EQ(WaitsFor(starting), "PodInitializing");
  runtime->Exit(IdOf(pod, "i"), 0);
  Await("web", IsReady);
  ASSERT_TRUE(client().Delete<Pod>(*ctx, {"default", "web"}).ok());
  AwaitGone("web");
  std::vector<std::string> order;
  for (const std::string& call : runtime->calls()) {
    if (call.starts_with("StartContainer")) order.push_back("+" + call.substr(19, 1));
    if (call.starts_with("StopContainer")) order.push_back("-" + call.substr(18, 1));
  }
  EXPECT_THAT(order, ElementsAre("+i", "+s", "+m", "-m", "-s"));
}

// All preStop hooks begin when the Pod is deleted; only the stop signals are ordered.
TEST_F(PodsTest, PreStopHooksOfSidecarsRunBesideThoseOfMainContainers) {
  const auto hooks = std::make_shared<std::atomic<int>>(0);
  runtime->SetExec([hooks](const std::string&, const auto&) {
    ++*hooks;
    return runtime::ExecResult{};
  });
  StartAgent();
  Create("web", R"({"initContainers":[
      {"name":"s1","image":"img:1","restartPolicy":"Always",
       "lifecycle":{"preStop":{"exec":{"command":["s1"]}}}},
      {"name":"s2","image":"img:1","restartPolicy":"Always",
       "lifecycle":{"preStop":{"exec":{"command":["s2"]}}}}],
      "containers":[{"name":"m","image":"img:1","lifecycle":{"preStop":{"sleep":{"seconds":10}}}},
      {"name":"n","image":"img:1"}]})");
  Await("web", IsReady);
  ASSERT_TRUE(client().Delete<Pod>(*ctx, {"default", "web"}).ok());
  AwaitCall("StopContainer web/n 30");
  while (!ctx->Done() && *hooks < 2) std::this_thread::yield();
  EXPECT_EQ(*hooks, 2);
  EXPECT_THAT(runtime->calls(), Not(Contains(StartsWith("StopContainer web/s"))));
  EXPECT_THAT(runtime->calls(), Not(Contains(StartsWith("StopContainer web/m"))));
  clock->Advance(seconds(10));
  AwaitGone("web");
  std::vector<std::string> stops;
  for (const std::string& call : runtime->calls()) {
    if (call.starts_with("StopContainer")) stops.push_back(call.substr(18));
  }
  EXPECT_THAT(stops, ElementsAre("n 30", "m 20", "s2 20", "s1 20"));
}

TEST_F(PodsTest, TerminatedPodsKeepTheirStatus) {
  StartAgent();
  const Pod good =
      Create("good", R"({"restartPolicy":"Never","containers":[{"name":"c","image":"img:1"}]})");
  const Pod bad =
      Create("bad", R"({"restartPolicy":"Never","containers":[{"name":"c","image":"img:1"}]})");
  Await("good", IsReady);
  Await("bad", IsReady);
  root.Write("kubelet/pods/" + bad.metadata.uid + "/containers/c/0", "no disk");
  runtime->Exit(IdOf(good, "c"), 0);
  runtime->Exit(IdOf(bad, "c"), 3);
  Await("good", [](const Pod& is) { return IsPhase(is, "Succeeded"); });
  const Pod failed = Await("bad", [](const Pod& is) { return IsPhase(is, "Failed"); });
  EXPECT_EQ(failed.status.containerStatuses[0].state.terminated->exitCode, 3);
  EXPECT_EQ(failed.status.containerStatuses[0].state.terminated->message, "no disk");
  AwaitCall("StopSandbox bad");
  // The containers are kept for reading logs; the object is not deleted.
  EXPECT_THAT(runtime->calls(), Not(Contains("RemoveSandbox bad")));
  ASSERT_TRUE(client().Delete<Pod>(*ctx, {"default", "bad"}).ok());
  AwaitGone("bad");
  AwaitCall("RemoveSandbox bad");
}

TEST_F(PodsTest, ImagePullFailuresAreReportedAndRetried) {
  StartAgent();
  Create("web", R"({"containers":[{"name":"c","image":"none:1"}]})");
  Await("web", [](const Pod& is) { return WaitsFor(is) == "ErrImagePull"; });
  EXPECT_TRUE(events.Has("Warning Failed Failed to pull image \"none:1\": "));
  EXPECT_TRUE(events.Has("Warning Failed Error: ErrImagePull"));
  const Pod waits =
      Eventually("web", [](const Pod& is) { return WaitsFor(is) == "ImagePullBackOff"; });
  EXPECT_THAT(waits.status.containerStatuses[0].state.waiting->message,
              StartsWith("Back-off pulling image \"none:1\": "));
  EXPECT_TRUE(events.Has("Normal BackOff Back-off pulling image \"none:1\""));
  runtime->Publish("none:1");
  Eventually("web", IsReady);

  Create("never", R"({"containers":[{"name":"c","image":"other:1","imagePullPolicy":"Never"}]})");
  Await("never", [](const Pod& is) { return WaitsFor(is) == "ErrImageNeverPull"; });
}

// An image whose pull was not confirmed is not used as if it had been preloaded.
TEST_F(PodsTest, ImageOfUnconfirmedPullIsPulledAgain) {
  runtime->Publish("odd:1");
  StartAgent();
  // The image is looked up before the pull, and fails after it.
  for (int i = 0; i < 2; ++i) runtime->FailNext("GetImage", {});
  runtime->FailNext("GetImage", Status::Unavailable("away"));
  Create("web", R"({"containers":[{"name":"c","image":"odd:1"}]})");
  Eventually("web", IsReady);
  const std::vector<std::string> calls = runtime->calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "PullImage odd:1"), 2);
  EXPECT_TRUE(events.Has("Warning Failed Failed to pull image \"odd:1\": away"));
}

TEST_F(PodsTest, MissingConfigMapIsReportedAndUsedWhenCreated) {
  StartAgent();
  Create("env", R"({"containers":[{"name":"c","image":"img:1",
      "envFrom":[{"configMapRef":{"name":"late"}}]}]})");
  Create("volume", R"({"containers":[{"name":"c","image":"img:1"}],
      "volumes":[{"name":"v","configMap":{"name":"late"}}]})");
  Await("env", [](const Pod& is) { return WaitsFor(is) == "CreateContainerConfigError"; });
  Await("volume", [this](const Pod& is) {
    return WaitsFor(is) == "ContainerCreating" && events.Has("Warning FailedMount");
  });
  core::v1::ConfigMap late;
  late.metadata.namespace_ = "default";
  late.metadata.name = "late";
  late.data["A"] = "1";
  ASSERT_TRUE(client().Create(*ctx, late).ok());
  Await("env", IsReady);
  const Pod volume = Await("volume", IsReady);
  // Later changes are applied too.
  const std::string file =
      "kubelet/pods/" + volume.metadata.uid + "/volumes/kubernetes.io~configmap/v/A";
  EXPECT_EQ(root.Read(file), "1");
  auto changed = client().Get<core::v1::ConfigMap>(*ctx, {"default", "late"});
  ASSERT_TRUE(changed.ok());
  changed->data["A"] = "2";
  ASSERT_TRUE(client().Update(*ctx, *changed).ok());
  while (!ctx->Done() && root.Read(file) != "2") std::this_thread::yield();
  EXPECT_EQ(root.Read(file), "2");
  // When it is deleted, existing files are kept and used for restarts.
  const auto failures = [this] {
    const auto told = events.events();
    return std::count_if(told.begin(), told.end(), [](const std::string& event) {
      return event.starts_with("Warning FailedMount");
    });
  };
  const auto before = failures();
  ASSERT_TRUE(client().Delete<core::v1::ConfigMap>(*ctx, {"default", "late"}).ok());
  while (!ctx->Done() && failures() == before) std::this_thread::yield();
  runtime->Exit(IdOf(volume, "c"), 1);
  Await("volume", [](const Pod& is) { return RestartsOf(is) == 1 && IsReady(is); });
}

TEST_F(PodsTest, FailedStartsAreRetriedWithBackoffAndPodCanBeDeleted) {
  constexpr std::chrono::seconds kFirstBackOff{10};
  StartAgent();
  const auto made = [this] {
    const auto calls = runtime->calls();
    return std::count(calls.begin(), calls.end(), "CreateContainer web/c");
  };
  for (int i = 0; i < 2; ++i) runtime->FailNext("StartContainer", Status::Internal("no such file"));
  Create("web", kWeb);
  Await("web", [](const Pod& is) { return WaitsFor(is) == "CrashLoopBackOff"; });
  EXPECT_EQ(made(), 2);
  EXPECT_TRUE(events.Has("Warning Failed Error: no such file"));
  // In one step: a clock that keeps running could exceed the deadline of the start call.
  clock->Advance(kFirstBackOff);
  Await("web", IsReady);
  EXPECT_EQ(made(), 3);

  // A container that was created but never started does not block the deletion.
  for (int i = 0; i < 2; ++i) runtime->FailNext("StartContainer", Status::Internal("no such file"));
  Create("gone", kWeb);
  Await("gone", [](const Pod& is) { return WaitsFor(is) == "CrashLoopBackOff"; });
  ASSERT_TRUE(client().Delete<Pod>(*ctx, {"default", "gone"}).ok());
  AwaitGone("gone");
  EXPECT_THAT(runtime->calls(), Not(Contains(StartsWith("StopContainer gone/c"))));
}

TEST_F(PodsTest, HostNetworkPodIsProbedAtNodeAddress) {
  auto listener = net::TcpListener::Listen("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  options.node_ips = {"127.0.0.1"};
  StartAgent();
  Create("first", kWeb);  // the image is present from now on
  Await("first", IsReady);
  Create("host", R"({"hostNetwork":true,"containers":[{"name":"c","image":"img:1",
      "readinessProbe":{"tcpSocket":{"port":)" +
                     std::to_string((*listener)->port()) + "}}}]}");
  const Pod host = Await("host", IsReady);
  EXPECT_EQ(host.status.podIP, "127.0.0.1");
}

TEST_F(PodsTest, HugeHostsFileIsNotRead) {
  StartAgent();
  const Pod pod = Create("web", kWeb);
  Await("web", IsReady);
  const std::string hosts = root / "kubelet/pods/" + pod.metadata.uid + "/etc-hosts";
  std::filesystem::resize_file(hosts, std::uintmax_t{1} << 36);  // a sparse file
  runtime->Exit(IdOf(pod, "c"), 1);
  Await("web", [](const Pod& is) { return RestartsOf(is) == 1 && IsReady(is); });
  EXPECT_LT(std::filesystem::file_size(hosts), 4096U);
}

TEST_F(PodsTest, ContainerIsReportedRunningAfterPostStartHook) {
  runtime->SetUnresponsive(true);
  StartAgent();
  Create("web", R"({"containers":[{"name":"c","image":"img:1",
      "lifecycle":{"postStart":{"exec":{"command":["wait"]}}}}]})");
  const Pod starting = Await("web", [](const Pod& is) {
    return !is.status.containerStatuses.empty() &&
           !is.status.containerStatuses[0].containerID.empty();
  });
  EXPECT_EQ(WaitsFor(starting), "ContainerCreating");
  EXPECT_FALSE(IsReady(starting));
  runtime->SetUnresponsive(false);
  Await("web", IsReady);
}

TEST_F(PodsTest, RunsMaximumNumberOfPods) {
  StartAgent();
  constexpr int kPods = 110;
  for (int i = 0; i < kPods; ++i) Create("p" + std::to_string(i), kWeb);
  for (int i = 0; i < kPods; ++i) Await("p" + std::to_string(i), IsReady);
  for (int i = 0; i < kPods; ++i) {
    ASSERT_TRUE(client().Delete<Pod>(*ctx, {"default", "p" + std::to_string(i)}).ok());
  }
  for (int i = 0; i < kPods; ++i) AwaitGone("p" + std::to_string(i));
  const auto calls = runtime->calls();
  const auto count = [&calls](std::string_view what) {
    return std::count_if(calls.begin(), calls.end(),
                         [what](const std::string& call) { return call.starts_with(what); });
  };
  // Each call once: no event is processed twice.
  EXPECT_EQ(count("RunSandbox"), kPods);
  EXPECT_EQ(count("StartContainer"), kPods);
  EXPECT_EQ(count("StopContainer"), kPods);
  EXPECT_EQ(count("RemoveSandbox"), kPods);
}

TEST_F(PodsTest, NewKubeletAdoptsRunningPods) {
  StartAgent();
  const Pod stays = Create("stays", kWeb);
  const Pod ends = Create("ends", kWeb);
  Create("goes", kWeb);
  for (const char* name : {"stays", "ends", "goes"}) Await(name, IsReady);
  StopAgent();
  const std::string stays_id = IdOf(stays, "c");
  runtime->Exit(IdOf(ends, "c"), 1);
  ASSERT_TRUE(client().Delete<Pod>(*ctx, {"default", "goes"}, {.grace_period = seconds(0)}).ok());
  StartAgent();
  Await("ends", [](const Pod& is) { return RestartsOf(is) == 1 && IsReady(is); });
  // Pods that were deleted from the API are stopped and removed.
  AwaitCall("RemoveSandbox goes");
  EXPECT_EQ(IdOf(stays, "c"), stays_id);
  EXPECT_TRUE(IsReady(*client().Get<Pod>(*ctx, {"default", "stays"})));
  EXPECT_THAT(runtime->calls(), Not(Contains(StartsWith("StopContainer stays"))));
}

TEST_F(PodsTest, LostRuntimeEventsAreRecovered) {
  StartAgent();
  const Pod pod = Create("web", kWeb);
  Await("web", IsReady);
  runtime->BreakEvents();
  runtime->Exit(IdOf(pod, "c"), 1);
  Await("web", [](const Pod& is) { return RestartsOf(is) == 1; });
  // Calls of an unavailable runtime are retried.
  const std::string id = IdOf(pod, "c");
  for (int i = 0; i < 3; ++i) runtime->FailNext("GetPod", Status::Unavailable("away"));
  runtime->Exit(id, 1);
  Eventually("web", [](const Pod& is) { return RestartsOf(is) == 2; });
}

TEST_F(PodsTest, ProbesControlReadinessAndRestarts) {
  // Probes of the fixture's agent run until the fixture ends, after this function.
  const auto code = std::make_shared<std::atomic<int>>(1);
  runtime->SetExec([code](const std::string&, const auto&) {
    return runtime::ExecResult{.exit_code = *code, .out = "so", .err = ""};
  });
  StartAgent();
  // Eventually may advance the clock by many seconds before the thread of a probe runs. With a
  // short timeout, the probe would fail before its command began.
  Create("ready", R"({"containers":[{"name":"c","image":"img:1",
      "readinessProbe":{"exec":{"command":["ask"]},"periodSeconds":1,"timeoutSeconds":1000000}}]})");
  const Pod alive = Create(
      "alive", R"({"terminationGracePeriodSeconds":7,"containers":[{"name":"c","image":"img:1",
      "livenessProbe":{"exec":{"command":["ask"]},"periodSeconds":1,"timeoutSeconds":1000000,
                       "failureThreshold":2}}]})");
  Eventually("alive", [](const Pod& is) { return RestartsOf(is) > 0; });
  EXPECT_TRUE(events.Has("Warning Unhealthy Liveness probe failed: so"));
  EXPECT_TRUE(events.Has("Normal Killing Container c failed liveness probe, will be restarted"));
  EXPECT_THAT(runtime->calls(), Contains(StartsWith("StopContainer alive/c ")));
  EXPECT_FALSE(IsReady(*client().Get<Pod>(*ctx, {"default", "ready"})));
  *code = 0;
  Eventually("ready", IsReady);
}

TEST_F(PodsTest, FailedHooksAndSandboxesAreReportedAndRetried) {
  runtime->SetExec([](const std::string&, const auto& command) {
    return runtime::ExecResult{.exit_code = command[0] == "bad" ? 1 : 0, .out = "", .err = "x"};
  });
  runtime->FailNext("RunSandbox", Status::Internal("no network"));
  StartAgent();
  Create("web", R"({"containers":[{"name":"c","image":"img:1",
      "lifecycle":{"postStart":{"exec":{"command":["good"]}}}}]})");
  Eventually("web", IsReady);
  EXPECT_TRUE(
      events.Has("Warning FailedCreatePodSandBox Failed to create pod sandbox: no network"));
  Create("bad", R"({"containers":[{"name":"c","image":"img:1",
      "lifecycle":{"postStart":{"exec":{"command":["bad"]}}}}]})");
  Await("bad", [](const Pod& is) { return WaitsFor(is) == "CrashLoopBackOff"; });
  EXPECT_TRUE(events.Has("Warning FailedPostStartHook"));
}

TEST_F(PodsTest, PodsThatDoNotFitAreRejectedAndEvictedPodsEnd) {
  options.max_pods = 1;
  StartAgent();
  const Pod first = Create("first", kWeb);
  Await("first", IsReady);
  Create("second", kWeb);
  const Pod turned = Await("second", [](const Pod& is) { return IsPhase(is, "Failed"); });
  EXPECT_EQ(turned.status.reason, "OutOfpods");
  EXPECT_THAT(turned.status.message, StartsWith("Pod was rejected: Node didn't have enough"));
  EXPECT_TRUE(events.Has("Warning OutOfpods Node didn't have enough resource: pods"));
  ASSERT_TRUE(client().Delete<Pod>(*ctx, {"default", "second"}).ok());
  AwaitGone("second");

  ASSERT_TRUE(manager
                  ->EndPod(first.metadata.uid, {.reason = "Evicted",
                                                .message = "The node was low on resource: memory.",
                                                .deadline = clock->Now() + seconds(3)})
                  .ok());
  const Pod evicted = Await("first", [](const Pod& is) { return IsPhase(is, "Failed"); });
  EXPECT_EQ(evicted.status.reason, "Evicted");
  EXPECT_THAT(runtime->calls(), Contains("StopContainer first/c 3"));
}

TEST_F(PodsTest, EphemeralContainersAreStartedOnce) {
  StartAgent();
  Create("web", kWeb);
  const Pod pod = Await("web", IsReady);
  // A patch, like kubectl debug: an update could conflict with the kubelet's status updates.
  const auto patched = client().PatchObject<Pod>(
      *ctx, {"default", "web"}, Patch::Strategic(R"({"spec":{"ephemeralContainers":[{
        "name":"debug","image":"img:1","imagePullPolicy":"IfNotPresent",
        "terminationMessagePolicy":"File","targetContainerName":"c"}]}})"),
      {.subresource = "ephemeralcontainers"});
  ASSERT_TRUE(patched.ok()) << patched.status().ToString();
  AwaitCall("StartContainer web/debug");
  EXPECT_EQ(
      runtime->ConfigOf(IdOf(pod, "debug")).linux->security_context->namespace_options->target_id,
      IdOf(pod, "c"));
  runtime->Exit(IdOf(pod, "debug"), 0);
  Await("web", [](const Pod& is) {
    return !is.status.ephemeralContainerStatuses.empty() &&
           is.status.ephemeralContainerStatuses[0].state.terminated && IsReady(is);
  });
}

// An ephemeral container never gets a PID namespace of its own in place of the one it targets.
TEST_F(PodsTest, EphemeralContainerWaitsForItsTargetContainer) {
  StartAgent();
  const Pod pod = Create("web", R"({"initContainers":[{"name":"i","image":"img:1"}],
      "containers":[{"name":"c","image":"img:1"}]})");
  AwaitCall("StartContainer web/i");
  const auto patched = client().PatchObject<Pod>(
      *ctx, {"default", "web"}, Patch::Strategic(R"({"spec":{"ephemeralContainers":[{
        "name":"debug","image":"img:1","imagePullPolicy":"IfNotPresent",
        "terminationMessagePolicy":"File","targetContainerName":"c"}]}})"),
      {.subresource = "ephemeralcontainers"});
  ASSERT_TRUE(patched.ok()) << patched.status().ToString();
  const auto waits = [](const Pod& is, std::string_view reason) {
    const auto& statuses = is.status.ephemeralContainerStatuses;
    return !statuses.empty() && statuses[0].state.waiting &&
           statuses[0].state.waiting->reason == reason;
  };
  // The target does not exist.
  const Pod missing =
      Await("web", [&](const Pod& is) { return waits(is, "CreateContainerConfigError"); });
  EXPECT_EQ(missing.status.ephemeralContainerStatuses[0].state.waiting->message,
            "unable to find target container c");
  EXPECT_TRUE(events.Has("Warning Failed Error: unable to find target container c"));
  EXPECT_THAT(runtime->calls(), Not(Contains("CreateContainer web/debug")));
  // The target exists, but cannot be started.
  runtime->FailNext("StartContainer", Status::Internal("no such file"));
  runtime->FailNext("StartContainer", Status::Internal("no such file"));
  runtime->Exit(IdOf(pod, "i"), 0);
  const Pod stopped = Await("web", [&](const Pod& is) {
    return WaitsFor(is) == "CrashLoopBackOff" && waits(is, "CreateContainerError");
  });
  EXPECT_THAT(stopped.status.ephemeralContainerStatuses[0].state.waiting->message,
              ::testing::HasSubstr("is not running"));
  EXPECT_THAT(runtime->calls(), Not(Contains("CreateContainer web/debug")));
  // The target runs.
  clock->Advance(seconds(10));
  AwaitCall("StartContainer web/debug");
  const auto namespaces =
      runtime->ConfigOf(IdOf(pod, "debug")).linux->security_context->namespace_options;
  EXPECT_EQ(namespaces->pid, cri::v1::kNamespaceModeTarget);
  EXPECT_EQ(namespaces->target_id, IdOf(pod, "c"));
}

}  // namespace
}  // namespace cox::kubelet

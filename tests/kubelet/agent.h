// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api/core/v1.h"
#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "coxswain/cache.h"
#include "coxswain/conditions.h"
#include "kubelet/podworkers/pod_manager.h"
#include "kubelet/testing/fake_events.h"
#include "kubelet/testing/test_folder.h"
#include "object/codec/json/json.h"
#include "runtime/testing/fake_runtime.h"
#include "testkit/test_cluster.h"
#include "testkit/wait.h"

namespace cox::kubelet {

// Mounts nothing, so that tests need no root.
class NoMounts final : public Mounter {
 public:
  Status MountTmpfs(const std::string&, int64_t) override { return {}; }
  Status BindHandle(int, const std::string&) override { return {}; }
  Status Unmount(const std::string&) override { return {}; }
  Result<bool> IsMounted(const std::string&) override { return true; }
};

// The Pod management of a kubelet: an informer of the node's Pods and the PodManager. Containers
// keep running after its destruction.
class Agent {
 public:
  Agent(Clock& clock, Client& client, runtime::Runtime& runtime, EventRecorder& events,
        Mounter* mounter, Options options)
      : ctx_(clock) {
    CacheOptions cache_options;
    cache_options.defaults.fields =
        fields::Selector::OneTermEqual("spec.nodeName", options.node_name);
    cache_ = Cache::Create(ctx_, client, std::move(cache_options));
    manager_ = PodManager::Create(ctx_, std::move(options),
                                  {.client = client,
                                   .runtime = runtime,
                                   .events = events,
                                   .mounter = mounter,
                                   .services = {},
                                   .node = {}});
    scope_.emplace(ctx_, "agent");
  }
  ~Agent() {
    scope_->Stop();
    scope_->Wait();
    handle_ = {};
    ctx_.Stop();
  }
  // Returns when all Pods are synced.
  Status Start(Context& ctx) {
    Informer<core::v1::Pod> pods = cache_->InformerOf<core::v1::Pod>();
    PodManager& manager = *manager_;
    handle_ =
        pods.AddHandler({.on_add = [&](const auto& pod) { manager.OnPod(pod); },
                         .on_update = [&](const auto&, const auto& pod) { manager.OnPod(pod); },
                         .on_delete = [&](const auto& pod) { manager.OnPodDeleted(pod); }});
    COX_RETURN_IF_ERROR(scope_->Go("agent", [&](Context& run) { (void)manager.Run(run); }));
    // Waits for the handler, not only for the cache: Pods that the handler has not received would
    // be killed.
    COX_RETURN_IF_ERROR(handle_.WaitForSync(ctx));
    manager.OnPodsSynced();
    return {};
  }
  PodManager& manager() { return *manager_; }

 private:
  Context ctx_;
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<PodManager> manager_;
  InformerHandle handle_;
  std::optional<Scope> scope_;
};

// The Pods of a node with the real API server and an in-memory runtime. The server uses real time;
// the test controls the kubelet's clock.
class AgentTest : public ::testing::Test {
 public:
  using Pod = core::v1::Pod;

  void SetUp() override {
    auto started = testkit::TestCluster::Start();
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    cluster = *std::move(started);
    ctx.emplace(cluster->context().WithTimeout(std::chrono::seconds(60)));
    // Both start at the same time, because the server computes the end of grace periods.
    clock.emplace(cluster->clock().Now());
    runtime.emplace(*clock);
    runtime->Publish("img:1");
    options.node_name = "n1";
    options.node_ips = {"192.0.2.10"};
    options.root_dir = root / "kubelet";
    options.pod_logs_dir = root / "logs/pods";
    options.cgroups_per_qos = false;
    options.resolv_conf = "/dev/null";
    options.sync_threads = 4;
  }
  void TearDown() override { StopAgent(); }

  void StartAgent() {
    agent.emplace(*clock, cluster->client(), *runtime, events, &mounter, options);
    ASSERT_TRUE(agent->Start(*ctx).ok());
    manager = &agent->manager();
  }
  // Containers keep running.
  void StopAgent() { agent.reset(); }

  Client& client() { return cluster->client(); }
  // Creates a Pod in namespace "default" on this node; `spec` is JSON.
  Pod Create(const std::string& name, const std::string& spec) {
    auto pod = json::Decode<Pod>(R"({"metadata":{"namespace":"default","name":")" + name +
                                 R"("},"spec":)" + spec + "}");
    EXPECT_TRUE(pod.ok()) << pod.status().ToString();
    pod->spec.nodeName = "n1";
    auto created = client().Create(*ctx, *std::move(pod));
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    return created.ok() ? *std::move(created) : Pod();
  }
  // Advances the kubelet's clock until `holds` is true for the Pod.
  Pod Eventually(const std::string& name, const std::function<bool(const Pod&)>& holds,
                 Clock::Duration step = std::chrono::seconds(1)) {
    Result<Pod> pod = Pod();
    while (!ctx->Done()) {
      pod = client().Get<Pod>(*ctx, {"default", name});
      if (pod.ok() && holds(*pod)) return *pod;
      clock->Advance(step);
      std::this_thread::yield();
    }
    ADD_FAILURE() << name << ": " << (pod.ok() ? json::Write(json::ToValue(pod->status)) : "gone")
                  << "\n"
                  << ::testing::PrintToString(runtime->calls()) << "\n"
                  << ::testing::PrintToString(events.events());
    return pod.ok() ? *pod : Pod();
  }
  // The same without advancing the clock: nothing may depend on a timer.
  Pod Await(const std::string& name, const std::function<bool(const Pod&)>& holds) {
    return Eventually(name, holds, {});
  }
  void AwaitGone(const std::string& name) {
    while (!ctx->Done()) {
      if (client().Get<Pod>(*ctx, {"default", name}).status().Is(Reason::kNotFound)) return;
      std::this_thread::yield();
    }
    ADD_FAILURE() << name << " is still there\n" << ::testing::PrintToString(runtime->calls());
  }
  void AwaitCall(const std::string& call) {
    while (!ctx->Done()) {
      const auto calls = runtime->calls();
      if (std::find(calls.begin(), calls.end(), call) != calls.end()) return;
      std::this_thread::yield();
    }
    ADD_FAILURE() << "never: " << call << "\n" << ::testing::PrintToString(runtime->calls());
  }

  static bool IsReady(const Pod& pod) { return IsTrue(pod.status.conditions, "Ready"); }
  static bool IsPhase(const Pod& pod, std::string_view phase) { return pod.status.phase == phase; }
  static std::string WaitsFor(const Pod& pod) {
    const auto& statuses = pod.status.containerStatuses;
    return statuses.empty() || !statuses[0].state.waiting ? "" : statuses[0].state.waiting->reason;
  }
  static int RestartsOf(const Pod& pod) {
    const auto& statuses = pod.status.containerStatuses;
    return statuses.empty() ? -1 : statuses[0].restartCount;
  }
  // The runtime's id of the newest instance of a container.
  std::string IdOf(const Pod& pod, const std::string& container) {
    const auto state = runtime->GetPod(*ctx, pod.metadata.uid);
    const auto* newest = state.ok() ? state->Newest(container) : nullptr;
    return newest == nullptr ? "" : newest->id;
  }

  const testing::TestFolder root;
  std::unique_ptr<testkit::TestCluster> cluster;
  std::optional<Context> ctx;  // of the test
  std::optional<TestClock> clock;
  std::optional<runtime::FakeRuntime> runtime;
  Options options;
  NoMounts mounter;
  testing::FakeEvents events;

  std::optional<Agent> agent;
  PodManager* manager = nullptr;
};

}  // namespace cox::kubelet

// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/coordination/v1.h"
#include "api/core/v1.h"
#include "coxswain/conditions.h"
#include "tests/manager_fixture.h"

// Simulated nodes with the real API server in this process.
namespace cox::simulate {
namespace {

using coordination::v1::Lease;
using core::v1::Node;
using core::v1::Pod;
using std::chrono::seconds;
using testkit::WaitFor;

class SimulateTest : public ManagerFixture {
 protected:
  void SetUp() override { StartCluster(); }

  void Run(const Options& options) {
    ManagerOptions manager_options;
    manager_options.cache = CacheFor();
    ASSERT_NO_FATAL_FAILURE(
        MakeManager(cluster->context(), cluster->client(), std::move(manager_options)));
    const Status added = AddNodes(*manager, options);
    ASSERT_TRUE(added.ok()) << added.ToString();
    RunManager();
  }

  void CreatePod(const std::string& name, const std::string& node,
                 const std::function<void(Pod&)>& change = nullptr) {
    Pod pod;
    pod.metadata.namespace_ = "default";
    pod.metadata.name = name;
    pod.spec.nodeName = node;
    auto& container = pod.spec.containers.emplace_back();
    container.name = "c";
    container.image = "image";
    if (change) change(pod);
    const auto created = cluster->client().Create(*ctx, std::move(pod));
    ASSERT_TRUE(created.ok()) << created.status().ToString();
  }
  Pod AwaitPhase(const std::string& name, const std::string& phase) {
    const auto pod = WaitFor<Pod>(*ctx, cluster->client(), {"default", name},
                                  [&](const Pod& p) { return p.status.phase == phase; });
    EXPECT_TRUE(pod.ok()) << name << " " << phase << ": " << pod.status().ToString();
    return pod.ok() ? *pod : Pod();
  }
  void Annotate(const std::string& node, const std::string& value) {
    const auto patched = cluster->client().PatchObject<Node>(
        *ctx, {"", node},
        Patch::Merge(R"({"metadata":{"annotations":{"coxswain.dev/fail":)" + value + "}}}"));
    ASSERT_TRUE(patched.ok()) << patched.status().ToString();
  }
};

TEST_F(SimulateTest, NodesRegisterAndPodsRunUntilDeleted) {
  Run({.nodes = 3});
  for (const char* name : {"sim-0", "sim-1", "sim-2"}) {
    const auto node = WaitFor<Node>(*ctx, cluster->client(), {"", name}, [](const Node& n) {
      return IsTrue(n.status.conditions, "Ready");
    });
    ASSERT_TRUE(node.ok()) << node.status().ToString();
    const auto lease = WaitFor<Lease>(*ctx, cluster->client(), {"kube-node-lease", name});
    ASSERT_TRUE(lease.ok()) << lease.status().ToString();
    EXPECT_EQ(lease->spec.holderIdentity, name);
    EXPECT_EQ(lease->metadata.ownerReferences.at(0).uid, node->metadata.uid);
  }
  CreatePod("a", "sim-1");
  CreatePod("b", "sim-1");
  const Pod a = AwaitPhase("a", "Running");
  const Pod b = AwaitPhase("b", "Running");
  EXPECT_TRUE(IsTrue(a.status.conditions, "Ready"));
  EXPECT_EQ(a.status.hostIP, "100.64.0.2");
  EXPECT_EQ(a.status.podIP.substr(0, 7), "10.0.1.");
  EXPECT_NE(a.status.podIP, b.status.podIP);
  ASSERT_TRUE(cluster->client().Delete<Pod>(*ctx, {"default", "a"}).ok());
  EXPECT_TRUE(testkit::WaitForDeleted<Pod>(*ctx, cluster->client(), {"default", "a"}).ok());

  // A restarted simulation continues and assigns no address twice.
  StopManager();
  Run({.nodes = 3});
  std::set<std::string> addresses = {b.status.podIP};
  for (int i = 0; i < 3; ++i) {
    const std::string name = "c" + std::to_string(i);
    CreatePod(name, "sim-1");
    addresses.insert(AwaitPhase(name, "Running").status.podIP);
  }
  EXPECT_EQ(addresses.size(), 4U);
}

TEST_F(SimulateTest, PodsTerminateAccordingToAnnotations) {
  Run({.nodes = 1});
  const auto ends = [](const char* code) {
    return [code](Pod& pod) {
      pod.spec.restartPolicy = "Never";
      pod.metadata.annotations["coxswain.dev/run-for"] = "0s";
      pod.metadata.annotations["coxswain.dev/exit-code"] = code;
    };
  };
  CreatePod("good", "sim-0", ends("0"));
  CreatePod("bad", "sim-0", ends("7"));
  CreatePod("stuck", "sim-0",
            [](Pod& pod) { pod.metadata.annotations["coxswain.dev/fail"] = "ErrImagePull"; });
  EXPECT_FALSE(IsTrue(AwaitPhase("good", "Succeeded").status.conditions, "Ready"));
  EXPECT_EQ(AwaitPhase("bad", "Failed").status.containerStatuses.at(0).state.terminated->exitCode,
            7);
  const auto stuck = WaitFor<Pod>(*ctx, cluster->client(), {"default", "stuck"},
                                  [](const Pod& p) { return !p.status.containerStatuses.empty(); });
  ASSERT_TRUE(stuck.ok()) << stuck.status().ToString();
  EXPECT_EQ(stuck->status.phase, "Pending");
  EXPECT_EQ(stuck->status.containerStatuses[0].state.waiting->reason, "ErrImagePull");
}

TEST_F(SimulateTest, FailedNodesDoNotRunPods) {
  Run({.nodes = 3, .fail = {"sim-2"}});
  CreatePod("warm", "sim-0");
  AwaitPhase("warm", "Running");
  Annotate("sim-0", "\"true\"");
  // Waits until the cache contains the annotation, before further Pods are created.
  ASSERT_TRUE(testkit::WaitForCache(*ctx, *manager->cache().Get(Resource::Of<Node>()), [&] {
                const auto node = manager->cache().ListerOf<Node>().Get({"", "sim-0"});
                return node != nullptr && !node->metadata.annotations.empty();
              }).ok());
  CreatePod("frozen", "sim-0");
  CreatePod("never", "sim-2");
  CreatePod("other", "sim-1");
  AwaitPhase("other", "Running");
  EXPECT_EQ(cluster->client().Get<Pod>(*ctx, {"default", "frozen"})->status.phase, "Pending");
  EXPECT_EQ(cluster->client().Get<Pod>(*ctx, {"default", "never"})->status.phase, "Pending");
  Annotate("sim-0", "null");
  AwaitPhase("frozen", "Running");
}

TEST_F(SimulateTest, InvalidOptionsAreRejected) {
  ASSERT_NO_FATAL_FAILURE(MakeManager(cluster->context(), cluster->client()));
  for (const Options& wrong :
       {Options{.nodes = 0}, Options{.nodes = 70'000}, Options{.pods_per_node = 251},
        Options{.cpu = "many"}, Options{.lease_duration = seconds(1)}}) {
    EXPECT_TRUE(AddNodes(*manager, wrong).Is(Reason::kBadRequest));
  }
}

}  // namespace
}  // namespace cox::simulate

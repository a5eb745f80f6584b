// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/podgc/pod_gc_controller.h"

#include "coxswain/conditions.h"
#include "harness.h"

namespace cox::controllers {
namespace {

using core::v1::Node;
using core::v1::Pod;
using std::chrono::seconds;
using testkit::WaitFor;
using testkit::WaitForDeleted;

class PodGcControllerTest : public ControllerTest {
 protected:
  PodGcControllerTest() { clock.emplace(); }

  Pod CreatePod(const std::string& name, const std::string& node,
                std::vector<std::string> finalizers = {}) {
    Pod pod;
    pod.metadata = {.name = name, .namespace_ = "default"};
    pod.metadata.finalizers = std::move(finalizers);
    pod.spec.containers = {{.name = "c", .image = "nginx"}};
    pod.spec.nodeName = node;
    return Create(std::move(pod));
  }
  void CreateNode(const std::string& name, List<core::v1::Taint> taints = {}) {
    Node node;
    node.metadata.name = name;
    node.spec.taints = std::move(taints);
    Create(std::move(node));
  }
};

TEST_F(PodGcControllerTest, PodsOfDeletedNodesFailAndAreDeleted) {
  CreateNode("here");
  CreatePod("stays", "here");
  CreatePod("lost", "gone", {"example.com/hold"});
  Start({AddPodGcController});
  const auto lost = Eventually<Pod>({"default", "lost"}, [](const Pod* pod) {
    return pod != nullptr && pod->metadata.deletionTimestamp.has_value();
  });
  ASSERT_TRUE(lost.ok()) << lost.status().ToString();
  EXPECT_EQ(lost->status.phase, "Failed");
  const auto* condition = FindCondition(lost->status.conditions, "DisruptionTarget");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->reason, "DeletionByPodGC");
  EXPECT_TRUE(Exists<Pod>({"default", "stays"}));
}

TEST_F(PodGcControllerTest, PodsOfReturnedNodeAreKept) {
  CreatePod("waits", "late");
  CreatePod("lost", "gone");
  Start({AddPodGcController});
  CreateNode("late");
  AwaitGone<Pod>({"default", "lost"});
  EXPECT_TRUE(Exists<Pod>({"default", "waits"}));
}

TEST_F(PodGcControllerTest, DeletedUnscheduledPodsFail) {
  CreatePod("pending", "", {"example.com/hold"});
  CreatePod("waits", "");
  Start({AddPodGcController});
  ASSERT_TRUE(client().Delete<Pod>(*ctx, {"default", "pending"}).ok());
  EXPECT_TRUE(WaitFor<Pod>(*ctx, client(), {"default", "pending"}, [](const Pod& pod) {
                return pod.status.phase == "Failed" && pod.status.conditions.empty();
              }).ok());
  const auto waits = client().Get<Pod>(*ctx, {"default", "waits"});
  ASSERT_TRUE(waits.ok());
  EXPECT_EQ(waits->status.phase, "Pending");
}

TEST_F(PodGcControllerTest, TerminatingPodsOnOutOfServiceNodesAreDeleted) {
  CreateNode("off", {{.key = "node.kubernetes.io/out-of-service", .effect = "NoExecute"}});
  CreatePod("deleted", "off");
  CreatePod("other", "off");
  Start({AddPodGcController});
  ASSERT_TRUE(client().Delete<Pod>(*ctx, {"default", "deleted"}).ok());
  EXPECT_TRUE(WaitForDeleted<Pod>(*ctx, client(), {"default", "deleted"}).ok());
  EXPECT_TRUE(Exists<Pod>({"default", "other"}));
}

TEST_F(PodGcControllerTest, OldestTerminatedPodsAreDeleted) {
  CreateNode("here");
  PodGcOptions options;
  options.terminated_pod_threshold = 1;
  for (const char* name : {"first", "second"}) {
    Pod pod = CreatePod(name, "here");
    pod.status.phase = "Succeeded";
    ASSERT_TRUE(client().UpdateStatus(*ctx, pod).ok());
  }
  Start({{AddPodGcController, options}});
  AwaitGone<Pod>({"default", "first"});
  EXPECT_TRUE(Exists<Pod>({"default", "second"}));
}

}  // namespace
}  // namespace cox::controllers

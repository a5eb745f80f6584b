// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/node/node_feed.h"

#include <gtest/gtest.h>

#include "api/resource/v1.h"
#include "api/storage/v1.h"
#include "apiserver/testing/write_harness.h"
#include "base/scope.h"

namespace cox::apiserver {
namespace {

class NodeFeedTest : public ::testing::Test {
 protected:
  void Start() {
    EXPECT_TRUE(
        scope_.Go("feed", [this](Context& ctx) { RunNodeFeed(ctx, memory_.registry(), graph_); })
            .ok());
  }
  ~NodeFeedTest() override {
    scope_.Stop();
    scope_.Wait();
  }

  // The feed is asynchronous, so poll until the change takes effect.
  bool Becomes(bool reached, const std::string& node, NodeObject type, const std::string& ns,
               const std::string& name) const {
    RealClock clock;
    const Clock::SteadyTime end = clock.In(std::chrono::seconds(20));
    while (clock.Monotonic() < end) {
      if (graph_.Reaches(node, type, ns, name) == reached) return true;
      std::this_thread::yield();
    }
    return false;
  }

  static core::v1::Pod Pod(std::string name, std::string node) {
    core::v1::Pod pod;
    pod.metadata.name = std::move(name);
    pod.metadata.namespace_ = "default";
    pod.spec.nodeName = std::move(node);
    pod.spec.containers.resize(1);
    pod.spec.containers[0].name = "c";
    pod.spec.containers[0].image = "i";
    pod.spec.imagePullSecrets.push_back({.name = "pull"});
    pod.spec.volumes.resize(1);
    pod.spec.volumes[0].name = "v";
    pod.spec.volumes[0].volumeSource.persistentVolumeClaim =
        core::v1::PersistentVolumeClaimVolumeSource{.claimName = "claim"};
    return pod;
  }
  static core::v1::PersistentVolume Volume() {
    core::v1::PersistentVolume volume;
    volume.metadata.name = "volume";
    volume.spec.capacity["storage"] = *Quantity::Parse("1Gi");
    volume.spec.accessModes = {"ReadWriteOnce"};
    volume.spec.persistentVolumeReclaimPolicy = "Retain";
    core::v1::ObjectReference claim;
    claim.namespace_ = "default";
    claim.name = "claim";
    volume.spec.claimRef = claim;
    core::v1::CSIPersistentVolumeSource csi;
    csi.driver = "d.example";
    csi.volumeHandle = "h";
    csi.nodeStageSecretRef = core::v1::SecretReference{.name = "key", .namespace_ = "storage"};
    volume.spec.persistentVolumeSource.csi = csi;
    return volume;
  }

  WriteHarness memory_;
  NodeGraph graph_;
  Scope scope_{memory_.ctx(), "test"};
};

TEST_F(NodeFeedTest, FollowsInitialObjectsAndChanges) {
  memory_.Create(Object::Of(Pod("early", "n1")));
  Start();
  EXPECT_TRUE(Becomes(true, "n1", NodeObject::kPod, "default", "early"));
  EXPECT_TRUE(Becomes(true, "n1", NodeObject::kSecret, "default", "pull"));
  memory_.Create(Object::Of(Volume()));
  EXPECT_TRUE(Becomes(true, "n1", NodeObject::kVolume, "", "volume"));
  EXPECT_TRUE(Becomes(true, "n1", NodeObject::kSecret, "storage", "key"));
  memory_.Create(Object::Of(Pod("late", "n2")));
  EXPECT_TRUE(Becomes(true, "n2", NodeObject::kVolume, "", "volume"));

  cox::storage::v1::VolumeAttachment attachment;
  attachment.metadata.name = "va";
  attachment.spec.attacher = "d.example";
  attachment.spec.nodeName = "n1";
  attachment.spec.source.persistentVolumeName = "volume";
  memory_.Create(Object::Of(attachment));
  EXPECT_TRUE(Becomes(true, "n1", NodeObject::kAttachment, "", "va"));
  resource::v1::ResourceSlice slice;
  slice.metadata.name = "slice";
  slice.spec.driver = "d.example";
  slice.spec.nodeName = "n2";
  slice.spec.pool.name = "pool";
  slice.spec.pool.resourceSliceCount = 1;
  memory_.Create(Object::Of(slice));
  EXPECT_TRUE(Becomes(true, "n2", NodeObject::kSlice, "", "slice"));

  memory_.Delete(core::v1::PersistentVolume::kKind, "", "volume");
  EXPECT_TRUE(Becomes(false, "n2", NodeObject::kSecret, "storage", "key"));
  memory_.Delete(resource::v1::ResourceSlice::kKind, "", "slice");
  EXPECT_TRUE(Becomes(false, "n2", NodeObject::kSlice, "", "slice"));
}

TEST_F(NodeFeedTest, UnscheduledPodGrantsNothing) {
  Start();
  memory_.Create(Object::Of(Pod("waits", "")));
  memory_.Create(Object::Of(Pod("marks", "n1")));
  EXPECT_TRUE(Becomes(true, "n1", NodeObject::kPod, "default", "marks"));
  EXPECT_EQ(graph_.sizes().holders, 1u);
}

}  // namespace
}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/testing/test_clock.h"
#include "kubelet/testing/fake_objects.h"
#include "kubelet/testing/fake_tokens.h"
#include "kubelet/testing/test_folder.h"
#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using ::testing::ElementsAre;
using testing::FakeObjects;
using testing::FakeTokens;
using ::testing::IsEmpty;
using testing::MakePod;
using testing::TestFolder;

// Records mounts without executing them.
class FakeMounter final : public Mounter {
 public:
  Status MountTmpfs(const std::string& path, int64_t bytes) override {
    mounted.insert(path);
    sizes.push_back(bytes);
    return {};
  }
  Status BindHandle(int fd, const std::string& path) override {
    mounted.insert(path);
    bound.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)).string());
    return {};
  }
  Status Unmount(const std::string& path) override {
    mounted.erase(path);
    return {};
  }
  Result<bool> IsMounted(const std::string& path) override { return mounted.contains(path); }

  std::set<std::string> mounted;
  std::vector<int64_t> sizes;
  std::vector<std::string> bound;
};

class VolumeManagerTest : public ::testing::Test {
 protected:
  VolumeManagerTest() : manager_({.root_dir = root_.path()}, objects_, tokens_, mounter_) {
    objects_.PutConfigMap("map", {{"a", "1"}});
    objects_.PutSecret("secret", {{"k", "s"}});
  }
  std::string Volume(const std::string& plugin, const std::string& name) const {
    return "pods/u1/volumes/kubernetes.io~" + plugin + "/" + name;
  }

  TestClock clock_;
  Context ctx_{clock_};
  const TestFolder root_;
  FakeObjects objects_;
  FakeTokens tokens_;
  FakeMounter mounter_;
  VolumeManager manager_;
};

TEST_F(VolumeManagerTest, SetsUpAndTearsDownAllVolumeTypes) {
  const auto pod = MakePod(R"({"containers":[{"name":"c"}],"volumes":[
      {"name":"e","emptyDir":{}},{"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}},
      {"name":"c","configMap":{"name":"map"}},{"name":"s","secret":{"secretName":"secret"}},
      {"name":"d","downwardAPI":{"items":[{"path":"n","fieldRef":{"fieldPath":"metadata.name"}}]}},
      {"name":"p","projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}},
      {"name":"h","hostPath":{"path":"/tmp"}}]})");
  const auto result = manager_.SetUp(ctx_, pod, {});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->changed);
  EXPECT_EQ(result->again, tokens_.refresh);
  EXPECT_EQ(root_.Mode(Volume("empty-dir", "e")), 0777U);
  EXPECT_EQ(root_.Read(Volume("configmap", "c") + "/a"), "1");
  EXPECT_EQ(root_.Read(Volume("secret", "s") + "/k"), "s");
  EXPECT_EQ(root_.Read(Volume("downward-api", "d") + "/n"), "web");
  EXPECT_EQ(root_.Read(Volume("projected", "p") + "/token"), "u1||3600");
  // Secrets are in memory, config maps on disk.
  EXPECT_TRUE(mounter_.mounted.contains(root_ / Volume("secret", "s")));
  EXPECT_TRUE(mounter_.mounted.contains(root_ / Volume("projected", "p")));
  EXPECT_FALSE(mounter_.mounted.contains(root_ / Volume("configmap", "c")));
  EXPECT_THAT(mounter_.sizes, ::testing::Contains(1 << 20));

  EXPECT_FALSE(manager_.SetUp(ctx_, pod, {})->changed);
  EXPECT_THAT(*manager_.PodsOnDisk(), ElementsAre("u1"));
  ASSERT_TRUE(manager_.TearDown("u1").ok());
  EXPECT_THAT(mounter_.mounted, IsEmpty());
  EXPECT_THAT(*manager_.PodsOnDisk(), IsEmpty());
  EXPECT_THAT(tokens_.forgotten, ElementsAre("u1"));
  EXPECT_TRUE(manager_.TearDown("u1").ok());
}

TEST_F(VolumeManagerTest, UpdatesFilesWhenObjectsOrTokensChange) {
  const auto pod =
      MakePod(R"({"containers":[{"name":"c"}],"volumes":[{"name":"c","configMap":{"name":"map"}},
      {"name":"p","projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}]})");
  ASSERT_TRUE(manager_.SetUp(ctx_, pod, {}).ok());
  objects_.PutConfigMap("map", {{"a", "new"}});
  tokens_.suffix = "-2";
  EXPECT_TRUE(manager_.SetUp(ctx_, pod, {})->changed);
  EXPECT_EQ(root_.Read(Volume("configmap", "c") + "/a"), "new");
  EXPECT_EQ(root_.Read(Volume("projected", "p") + "/token"), "u1||3600-2");
}

TEST_F(VolumeManagerTest, ErrorNamesVolumeAndOthersAreSetUp) {
  const auto pod = MakePod(R"({"volumes":[{"name":"bad","configMap":{"name":"none"}},
      {"name":"odd","nfs":{"server":"x","path":"/"}},{"name":"good","configMap":{"name":"map"}}]})");
  EXPECT_EQ(manager_.SetUp(ctx_, pod, {}).status().message(),
            "MountVolume.SetUp failed for volume \"bad\" : configmap \"none\" not found");
  EXPECT_EQ(root_.Read(Volume("configmap", "good") + "/a"), "1");
}

TEST_F(VolumeManagerTest, KeepsChangesOfContainersInEmptyDir) {
  const auto pod = MakePod(R"({"volumes":[{"name":"e","emptyDir":{}}]})");
  ASSERT_TRUE(manager_.SetUp(ctx_, pod, {}).ok());
  ::chmod((root_ / Volume("empty-dir", "e")).c_str(), 0700);
  root_.Write(Volume("empty-dir", "e") + "/f", "x");
  ASSERT_TRUE(manager_.SetUp(ctx_, pod, {}).ok());
  EXPECT_EQ(root_.Mode(Volume("empty-dir", "e")), 0700U);
  EXPECT_EQ(root_.Read(Volume("empty-dir", "e") + "/f"), "x");
}

TEST_F(VolumeManagerTest, MountsOfAContainer) {
  const auto pod = MakePod(R"j({"containers":[{"name":"c","volumeMounts":[
      {"name":"h","mountPath":"/host","readOnly":true,"mountPropagation":"HostToContainer"},
      {"name":"c","mountPath":"etc/a","subPath":"a"},
      {"name":"e","mountPath":"/logs","subPathExpr":"logs/$(POD)"}]
}],
      "volumes":[{"name":"h","hostPath":{"path":"/srv"}},{"name":"c","configMap":{"name":"map"}},
      {"name":"e","emptyDir":{}}]
})j");
  ASSERT_TRUE(manager_.SetUp(ctx_, pod, {}).ok());
  const Environment environment{.variables = {{"POD", "web"}}, .skipped = {}};
  const auto mounts = manager_.MountsOf(pod, pod.spec.containers[0], environment);
  ASSERT_TRUE(mounts.ok()) << mounts.status().ToString();
  EXPECT_THAT(
      *mounts,
      ElementsAre(ContainerMount{"h", "/srv", "/host", true, "HostToContainer"},
                  ContainerMount{"c", root_ / "pods/u1/volume-subpaths/c/c/1", "/etc/a", true},
                  ContainerMount{"e", root_ / "pods/u1/volume-subpaths/e/c/2", "/logs"}));
  EXPECT_TRUE(root_.Has(Volume("empty-dir", "e") + "/logs/web"));
  EXPECT_TRUE(mounter_.bound[0].ends_with("/a"));
  EXPECT_TRUE(mounter_.bound[1].ends_with(Volume("empty-dir", "e") + "/logs/web"));
  // The mounts are recreated for the next container instance.
  EXPECT_TRUE(manager_.MountsOf(pod, pod.spec.containers[0], environment).ok());
  ASSERT_TRUE(manager_.TearDown("u1").ok());
  EXPECT_THAT(mounter_.mounted, IsEmpty());
}

// CVE-2017-1002102: the kubelet, as root, would follow symlinks that a container creates there.
TEST_F(VolumeManagerTest, VolumesWrittenByKubeletAreReadOnly) {
  const auto pod = MakePod(R"({"containers":[{"name":"c","volumeMounts":[
      {"name":"c","mountPath":"/c"},{"name":"s","mountPath":"/s"},{"name":"d","mountPath":"/d"},
      {"name":"p","mountPath":"/p"},{"name":"e","mountPath":"/e"},{"name":"h","mountPath":"/h"}]}],
      "volumes":[{"name":"c","configMap":{"name":"map"}},
      {"name":"s","secret":{"secretName":"secret"}},{"name":"d","downwardAPI":{}},
      {"name":"p","projected":{}},{"name":"e","emptyDir":{}},
      {"name":"h","hostPath":{"path":"/srv"}}]})");
  const auto mounts = manager_.MountsOf(pod, pod.spec.containers[0], {});
  ASSERT_TRUE(mounts.ok()) << mounts.status().ToString();
  std::string writable;
  for (const ContainerMount& mount : *mounts) writable += mount.read_only ? "" : mount.volume;
  EXPECT_EQ(writable, "eh");
}

TEST_F(VolumeManagerTest, PodDirectoryIsNotAccessibleToOtherUsers) {
  const auto pod = MakePod(R"({"volumes":[{"name":"s","secret":{"secretName":"secret"}}]})");
  ASSERT_TRUE(manager_.SetUp(ctx_, pod, {}).ok());
  EXPECT_EQ(root_.Mode("pods/u1") & 0007, 0U);
}

TEST_F(VolumeManagerTest, IncompleteEmptyDirIsRecreatedAfterCrash) {
  const auto pod = MakePod(R"({"volumes":[{"name":"e","emptyDir":{}}]})");
  std::filesystem::create_directories(root_ / (Volume("empty-dir", "e") + ".new"));
  ASSERT_TRUE(manager_.SetUp(ctx_, pod, {}).ok());
  EXPECT_EQ(root_.Mode(Volume("empty-dir", "e")), 0777U);
  EXPECT_FALSE(root_.Has(Volume("empty-dir", "e") + ".new"));
}

TEST_F(VolumeManagerTest, RejectsInvalidMounts) {
  auto pod =
      MakePod(R"({"containers":[{"name":"c","volumeMounts":[{"name":"x","mountPath":"/x"}]}]})");
  EXPECT_FALSE(manager_.MountsOf(pod, pod.spec.containers[0], {}).ok());
  pod = MakePod(
      R"({"containers":[{"name":"c","volumeMounts":[{"name":"e","mountPath":"/x","subPath":"link/x"}]}],
      "volumes":[{"name":"e","emptyDir":{}}]})");
  ASSERT_TRUE(manager_.SetUp(ctx_, pod, {}).ok());
  root_.Link("/", Volume("empty-dir", "e") + "/link");
  auto recursive = pod;
  recursive.spec.containers[0].volumeMounts[0].subPath = "";
  EXPECT_TRUE(manager_.MountsOf(recursive, recursive.spec.containers[0], {}).ok());
  recursive.spec.containers[0].volumeMounts[0].recursiveReadOnly = "Enabled";
  EXPECT_FALSE(manager_.MountsOf(recursive, recursive.spec.containers[0], {}).ok());
  EXPECT_FALSE(manager_.MountsOf(pod, pod.spec.containers[0], {}).ok());
  EXPECT_THAT(mounter_.bound, IsEmpty());
  for (const char* uid : {"", ".", "..", "a/b"}) EXPECT_FALSE(manager_.TearDown(uid).ok()) << uid;
}

}  // namespace
}  // namespace cox::kubelet

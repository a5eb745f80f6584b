// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resources/cgroup_tree.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

namespace fs = std::filesystem;

// Uses a plain directory, where new groups contain no files, so only the groups are checked.
TEST(CgroupTreeTest, CreatesAndRemovesPodGroups) {
  std::string mount = ::testing::TempDir() + "cgroups-XXXXXX";
  ASSERT_NE(::mkdtemp(mount.data()), nullptr);
  std::ofstream(mount + "/cgroup.controllers") << "cpu memory";
  const CgroupTree tree({.root = "/", .mount = mount});
  const auto pod =
      testing::MakePod(R"({"containers":[{"name":"c"}]})", R"({"qosClass":"BestEffort"})");
  // Fails here, because the directory has no files for the values.
  (void)tree.Ensure(pod);
  const std::string group = mount + "/kubepods/besteffort/podu1";
  ASSERT_TRUE(fs::is_directory(group));
  fs::create_directories(group + "/left/behind");
  // Remove searches all QoS classes by UID.
  const std::string burstable = mount + "/kubepods/burstable/podu1";
  fs::create_directories(burstable);
  ASSERT_TRUE(tree.Remove(pod).ok());
  EXPECT_FALSE(fs::exists(group));
  EXPECT_FALSE(fs::exists(burstable));
  EXPECT_TRUE(fs::exists(mount + "/kubepods/besteffort"));
  EXPECT_TRUE(tree.Remove(pod).ok());
  fs::remove_all(mount);
}

TEST(CgroupTreeTest, RemoveKillsRemainingProcesses) {
  const std::string root = "cox-test-" + std::to_string(::getpid());
  std::string mount = "/sys/fs/cgroup";
  if (fs::exists(mount + "/unified/cgroup.procs")) mount += "/unified";
  const std::string group = mount + "/" + root + "/kubepods/besteffort/podu1";
  std::error_code error;
  if (!fs::exists(mount + "/cgroup.controllers") || !fs::create_directories(group, error)) {
    GTEST_SKIP() << "no control groups of version 2 to be made here";
  }
  const pid_t left = ::fork();
  if (left == 0) ::pause();
  std::ofstream(group + "/cgroup.procs") << left;
  const CgroupTree tree({.root = "/" + root, .mount = mount});
  const auto pod =
      testing::MakePod(R"({"containers":[{"name":"c"}]})", R"({"qosClass":"BestEffort"})");
  EXPECT_FALSE(tree.Remove(pod).ok());
  int status = 0;
  EXPECT_EQ(::waitpid(left, &status, 0), left);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_TRUE(tree.Remove(pod).ok());
  EXPECT_FALSE(fs::exists(group));
  for (const char* const path : {"/kubepods/besteffort", "/kubepods", ""}) {
    fs::remove(mount + "/" + root + path, error);
  }
}

TEST(CgroupTreeTest, QosClassesGetWeightOfTheirRequests) {
  std::string mount = ::testing::TempDir() + "cgroups-XXXXXX";
  ASSERT_NE(::mkdtemp(mount.data()), nullptr);
  std::ofstream(mount + "/cgroup.controllers") << "cpu memory";
  for (const char* name : {"burstable", "besteffort"}) {
    fs::create_directories(mount + "/kubepods/" + name);
    std::ofstream(mount + "/kubepods/" + name + "/cpu.weight") << "";
  }
  const CgroupTree tree({.root = "/", .mount = mount});
  const auto pod =
      testing::MakePod(R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]})",
                       R"({"qosClass":"Burstable"})");
  ASSERT_TRUE(tree.SetClasses({&pod, &pod}).ok());
  const auto weight = [&mount](const std::string& name) {
    int value = 0;
    std::ifstream(mount + "/kubepods/" + name + "/cpu.weight") >> value;
    return value;
  };
  EXPECT_EQ(weight("burstable"), static_cast<int>(SharesToWeight(8192)));
  EXPECT_EQ(weight("besteffort"), 1);
  fs::remove_all(mount);
}

TEST(CgroupTreeTest, DoesNothingWithSystemdDriver) {
  const CgroupTree tree({.driver = CgroupDriver::kSystemd, .mount = "/nowhere"});
  EXPECT_TRUE(tree.Ensure(testing::MakePod(R"({"containers":[{"name":"c"}]})")).ok());
}

}  // namespace
}  // namespace cox::kubelet

// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/files/sub_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "kubelet/testing/test_folder.h"
#include "kubelet/volumes/files/file_tree.h"

namespace cox::kubelet {
namespace {

using testing::TestFolder;

// The path of the handle according to the kernel.
std::string PathOf(const Fd& fd) {
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd.get())).string();
}

TEST(SubPathTest, OpensOrCreatesPathsInVolume) {
  const TestFolder folder;
  folder.Write("v/dir/file", "x");
  folder.Link("dir", "v/inside");
  folder.Link("..data/a", "v/a");
  folder.Link("..1", "v/..data");
  folder.Write("v/..1/a", "config");
  const std::string root = std::filesystem::canonical(folder / "v").string();
  const std::pair<std::string, std::string> kCases[] = {
      {"dir/file", "/dir/file"},
      {"inside/file", "/dir/file"},
      {"./dir//", "/dir"},
      {"a", "/..1/a"},
      {"new/deep", "/new/deep"},
      {"inside/made", "/dir/made"},
      {"", ""},
  };
  for (const auto& [path, want] : kCases) {
    const Result<Fd> got = OpenSubPath(folder / "v", path);
    ASSERT_TRUE(got.ok()) << path << got.status().ToString();
    EXPECT_EQ(PathOf(*got), root + want) << path;
  }
}

// Otherwise containers that do not run as root could not use them.
TEST(SubPathTest, CreatedDirectoriesHaveModeOfVolume) {
  const TestFolder folder;
  folder.Write("v/old/file", "x");
  ::chmod((folder / "v/old").c_str(), 0700);
  for (const unsigned mode : {0777U, 0755U, 0770U}) {
    ::chmod((folder / "v").c_str(), mode);
    const std::string name = "made" + std::to_string(mode);
    ASSERT_TRUE(OpenSubPath(folder / "v", name + "/below").ok());
    EXPECT_EQ(folder.Mode("v/" + name), mode);
    EXPECT_EQ(folder.Mode("v/" + name + "/below"), mode);
  }
  ASSERT_TRUE(OpenSubPath(folder / "v", "old").ok());
  EXPECT_EQ(folder.Mode("v/old"), 0700U);
}

// CVE-2017-1002101: a symlink in a volume that leads to the host.
TEST(SubPathTest, RejectsPathsThatLeaveVolume) {
  const TestFolder folder;
  folder.Write("secret/key", "x");
  folder.Write("v/dir/x", "");
  folder.Link("/", "v/root");
  folder.Link(folder / "secret", "v/absolute");
  folder.Link("../secret", "v/up");
  folder.Link("../../secret", "v/dir/upup");
  folder.Link("../secret/new", "v/dangling");
  folder.Link("loop", "v/loop");
  for (const char* path :
       {"root", "root/etc", "absolute", "absolute/key", "up", "up/key", "up/made", "dir/upup/key",
        "dangling", "dangling/made", "loop", "..", "dir/../../secret", "/etc", "a/../b"}) {
    EXPECT_FALSE(OpenSubPath(folder / "v", path).ok()) << path;
  }
  EXPECT_FALSE(folder.Has("secret/made"));
  EXPECT_FALSE(folder.Has("secret/new"));
}

// CVE-2021-25741: a container swaps a directory for a symlink while the path is resolved.
TEST(SubPathTest, StaysInVolumeDuringConcurrentSwaps) {
  const TestFolder folder;
  folder.Write("secret/key", "x");
  folder.Write("v/a/key", "");
  folder.Link(folder / "secret", "v/link");
  const std::string root = std::filesystem::canonical(folder / "v").string();
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    const std::string a = folder / "v/a";
    const std::string link = folder / "v/link";
    const std::string spare = folder / "v/spare";
    while (!stop) {
      std::rename(a.c_str(), spare.c_str());
      std::rename(link.c_str(), a.c_str());
      std::rename(a.c_str(), link.c_str());
      std::rename(spare.c_str(), a.c_str());
    }
  });
  int opened = 0;
  for (int i = 0; i < 2000; ++i) {
    const Result<Fd> got = OpenSubPath(folder / "v", "a/key");
    if (!got.ok()) continue;
    ++opened;
    EXPECT_TRUE(PathOf(*got).starts_with(root)) << PathOf(*got);
  }
  stop = true;
  swapper.join();
  RecordProperty("opened", opened);
}

TEST(SubPathTest, ChecksRelativePaths) {
  for (const char* good : {"", "a", "a/b", "..a", "a..", "a/..b"}) {
    EXPECT_TRUE(CheckRelativePath(good).ok()) << good;
  }
  for (const char* bad : {"/", "/a", "..", "../a", "a/..", "a/../b"}) {
    EXPECT_FALSE(CheckRelativePath(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace cox::kubelet

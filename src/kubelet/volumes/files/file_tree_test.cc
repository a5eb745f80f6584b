// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/files/file_tree.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fd.h"
#include "base/file_watch.h"
#include "kubelet/testing/test_folder.h"

namespace cox::kubelet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestFolder;

TEST(FileTreeTest, RemovesSymlinksWithoutFollowingThem) {
  const TestFolder folder;
  folder.Write("outside/keep", "x");
  folder.Write("tree/a/b/c", "x");
  folder.Link(folder / "outside", "tree/a/dir");
  folder.Link(folder / "outside/keep", "tree/file");
  folder.Link("/nowhere", "tree/broken");
  ASSERT_TRUE(RemoveTree(folder / "tree").ok());
  EXPECT_FALSE(folder.Has("tree"));
  EXPECT_EQ(folder.Read("outside/keep"), "x");
  // A symlink at the top is removed, not its target.
  folder.Link(folder / "outside", "top");
  ASSERT_TRUE(RemoveTree(folder / "top").ok());
  EXPECT_FALSE(folder.Has("top"));
  EXPECT_TRUE(folder.Has("outside/keep"));
  EXPECT_TRUE(RemoveTree(folder / "none").ok());
  EXPECT_TRUE(RemoveTree(folder / "none/below").ok());
}

// A container can nest directories arbitrarily deep; its Pod must be removable nevertheless.
TEST(FileTreeTest, RemovesTreesDeeperThanFileDescriptorLimit) {
  const TestFolder folder;
  ASSERT_TRUE(MakeDirectories(folder / "tree", 0755).ok());
  Fd at(::open((folder / "tree").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 3000; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0) << depth;
    ASSERT_EQ(::mkdirat(at.get(), "e", 0755), 0) << depth;
    at = Fd(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.valid()) << depth;
  }
  const Status removed = RemoveTree(folder / "tree");
  EXPECT_TRUE(removed.ok()) << removed.ToString();
  EXPECT_FALSE(folder.Has("tree"));
}

TEST(FileTreeTest, MountPoints) {
  const TestFolder folder;
  EXPECT_TRUE(*IsMountPoint("/proc"));
  EXPECT_FALSE(*IsMountPoint(folder.path()));
  EXPECT_FALSE(*IsMountPoint(folder / "none"));
}

TEST(FileTreeTest, CreatesAndListsDirectories) {
  const TestFolder folder;
  ASSERT_TRUE(MakeDirectories(folder / "a/b/c", 0755).ok());
  ASSERT_TRUE(MakeDirectories(folder / "a/b/c", 0755).ok());
  folder.Write("a/z", "1");
  EXPECT_THAT(*ListDirectory(folder / "a"), ElementsAre("b", "z"));
  EXPECT_THAT(*ListDirectory(folder / "none"), IsEmpty());
  EXPECT_FALSE(MakeDirectories(folder / "a/z/below", 0755).ok());
}

TEST(FileTreeTest, CreatesNewFilesOnly) {
  const TestFolder folder;
  ASSERT_TRUE(WriteWhole(folder / "f", "text", 0666).ok());
  EXPECT_EQ(folder.Mode("f"), 0666U);  // regardless of the umask
  EXPECT_EQ(*ReadBoundedFile(folder / "f"), "text");
  folder.Link("f", "link");
  EXPECT_FALSE(WriteWhole(folder / "link", "other", 0644).ok());
  EXPECT_EQ(folder.Read("f"), "text");
}

TEST(FileTreeTest, SetGroupDoesNotFollowSymlinks) {
  const TestFolder folder;
  folder.Write("outside", "x");
  ::chmod((folder / "outside").c_str(), 0600);
  folder.Write("v/d/f", "x");
  ::chmod((folder / "v/d/f").c_str(), 0600);
  folder.Link(folder / "outside", "v/link");
  // The process' own group, so that the test works without root.
  ASSERT_TRUE(SetGroup(folder / "v", ::getegid(), false).ok());
  EXPECT_EQ(folder.Mode("v/d/f"), 0660U);
  EXPECT_EQ(folder.Mode("v/d") & 02770, 02770U);
  EXPECT_EQ(folder.Mode("outside"), 0600U);
}

}  // namespace
}  // namespace cox::kubelet

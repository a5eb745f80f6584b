// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/files/mounter.h"

#include <gtest/gtest.h>

#include "kubelet/testing/test_folder.h"
#include "kubelet/volumes/files/file_tree.h"
#include "kubelet/volumes/files/sub_path.h"

namespace cox::kubelet {
namespace {

using testing::TestFolder;

TEST(MounterTest, RemoveTreeDoesNotDeleteThroughMounts) {
  if (!testing::IsRoot()) GTEST_SKIP() << "needs root to mount";
  const TestFolder folder;
  const auto mounter = MakeMounter();
  ASSERT_TRUE(MakeDirectories(folder / "tree/memory", 0755).ok());
  const Status mounted = mounter->MountTmpfs(folder / "tree/memory", 1 << 20);
  if (!mounted.ok()) GTEST_SKIP() << "cannot mount here: " << mounted.message();
  EXPECT_TRUE(*mounter->IsMounted(folder / "tree/memory"));
  folder.Write("tree/memory/f", "x");
  EXPECT_FALSE(RemoveTree(folder / "tree").ok());
  EXPECT_TRUE(folder.Has("tree/memory/f"));

  // Bind-mounts a subPath by its handle.
  folder.Write("bound", "");
  const Result<Fd> handle = OpenSubPath(folder / "tree/memory", "f");
  ASSERT_TRUE(handle.ok());
  ASSERT_TRUE(mounter->BindHandle(handle->get(), folder / "bound").ok());
  EXPECT_EQ(folder.Read("bound"), "x");
  EXPECT_TRUE(mounter->Unmount(folder / "bound").ok());
  EXPECT_EQ(folder.Read("bound"), "");

  EXPECT_TRUE(mounter->Unmount(folder / "tree/memory").ok());
  EXPECT_FALSE(*mounter->IsMounted(folder / "tree/memory"));
  EXPECT_TRUE(mounter->Unmount(folder / "tree/memory").ok());  // nothing is mounted any more
  EXPECT_TRUE(RemoveTree(folder / "tree").ok());
}

}  // namespace
}  // namespace cox::kubelet

// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/host_path/host_path.h"

#include <gtest/gtest.h>

#include "kubelet/testing/test_folder.h"

namespace cox::kubelet {
namespace {

using testing::TestFolder;

TEST(HostPathTest, ChecksTypes) {
  const TestFolder folder;
  folder.Write("file", "x");
  folder.Write("dir/x", "");
  const struct {
    std::string path, type;
    bool ok;
  } kCases[] = {
      {folder / "none", "", true},
      {folder / "dir", "Directory", true},
      {folder / "file", "Directory", false},
      {folder / "none", "Directory", false},
      {folder / "file", "File", true},
      {folder / "dir", "File", false},
      {folder / "file", "Socket", false},
      {"/dev/null", "CharDevice", true},
      {"/dev/null", "BlockDevice", false},
      {folder / "dir", "DirectoryOrCreate", true},
      {folder / "file", "DirectoryOrCreate", false},
      {folder / "made/deep", "DirectoryOrCreate", true},
      {folder / "file", "FileOrCreate", true},
      {folder / "dir", "FileOrCreate", false},
      {folder / "newfile", "FileOrCreate", true},
      {folder / "nowhere/newfile", "FileOrCreate", false},
      {folder / "file", "Other", false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(PrepareHostPath({.path = c.path, .type = c.type}).ok(), c.ok) << c.path << c.type;
  }
  EXPECT_TRUE(folder.Has("made/deep"));
  EXPECT_TRUE(folder.Has("newfile"));
  EXPECT_EQ(PrepareHostPath({.path = "/none", .type = "Directory"}).message(),
            "hostPath type check failed: /none is not a directory");
}

}  // namespace
}  // namespace cox::kubelet

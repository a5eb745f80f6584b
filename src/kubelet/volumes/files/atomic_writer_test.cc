// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/files/atomic_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "kubelet/testing/test_folder.h"
#include "kubelet/volumes/files/file_tree.h"

namespace cox::kubelet {
namespace {

using ::testing::ElementsAre;
using testing::TestFolder;

constexpr Clock::WallTime kNow = TestClock::kStart;

std::string DataOf(const TestFolder& folder) {
  return std::filesystem::read_symlink(folder / "..data").string();
}

TEST(AtomicWriterTest, WritesFilesBehindSymlinks) {
  const TestFolder folder;
  const auto wrote = WriteAtomically(
      folder.path(), {{"a", {"1", 0400}}, {"dir/b", {"2", 0644}}, {"dir/deep/c", {"3", 0777}}},
      std::nullopt, kNow);
  ASSERT_TRUE(wrote.ok()) << wrote.status().ToString();
  EXPECT_TRUE(*wrote);
  EXPECT_EQ(folder.Read("a"), "1");
  EXPECT_EQ(folder.Read("dir/b"), "2");
  EXPECT_EQ(folder.Mode("a"), 0400U);
  EXPECT_EQ(folder.Mode("dir/deep/c"), 0777U);
  EXPECT_THAT(DataOf(folder), ::testing::StartsWith("..2030_01_02_03_04_05."));
  EXPECT_EQ(std::filesystem::read_symlink(folder / "a"), "..data/a");
  EXPECT_THAT(*ListDirectory(folder.path()), ElementsAre(DataOf(folder), "..data", "a", "dir"));
}

TEST(AtomicWriterTest, WritesOnlyOnChange) {
  const TestFolder folder;
  const Payload first = {{"a", {"1", 0644}}, {"b", {"2", 0644}}};
  ASSERT_TRUE(*WriteAtomically(folder.path(), first, std::nullopt, kNow));
  const std::string data = DataOf(folder);
  EXPECT_FALSE(*WriteAtomically(folder.path(), first, std::nullopt, kNow));
  EXPECT_EQ(DataOf(folder), data);
  // A different content or mode, an added or a removed key is a change.
  for (const Payload& next : {Payload{{"a", {"x", 0644}}, {"b", {"2", 0644}}},
                              Payload{{"a", {"x", 0600}}, {"b", {"2", 0644}}},
                              Payload{{"a", {"x", 0600}}, {"b", {"2", 0644}}, {"c", {"", 0644}}},
                              Payload{{"c", {"", 0644}}}, Payload{}}) {
    EXPECT_TRUE(*WriteAtomically(folder.path(), next, std::nullopt, kNow));
    for (const auto& [path, file] : next) EXPECT_EQ(folder.Read(path), file.data);
    EXPECT_EQ(folder.Has("a"), next.contains("a"));
    EXPECT_EQ(folder.Has("b"), next.contains("b"));
  }
  EXPECT_THAT(*ListDirectory(folder.path()), ElementsAre(DataOf(folder), "..data"));
}

TEST(AtomicWriterTest, FileCanBecomeDirectory) {
  const TestFolder folder;
  ASSERT_TRUE(*WriteAtomically(folder.path(), {{"x", {"1", 0644}}}, std::nullopt, kNow));
  ASSERT_TRUE(*WriteAtomically(folder.path(), {{"x/y", {"2", 0644}}}, std::nullopt, kNow));
  EXPECT_EQ(folder.Read("x/y"), "2");
}

TEST(AtomicWriterTest, CleansUpAfterCrash) {
  const TestFolder folder;
  ASSERT_TRUE(*WriteAtomically(folder.path(), {{"a", {"1", 0644}}}, std::nullopt, kNow));
  folder.Write("..1999_01_01_00_00_00.1/a", "half");
  folder.Link("..1999_01_01_00_00_00.1", "..data_tmp");
  std::filesystem::remove(folder / "a");
  EXPECT_FALSE(*WriteAtomically(folder.path(), {{"a", {"1", 0644}}}, std::nullopt, kNow));
  EXPECT_EQ(folder.Read("a"), "1");
  EXPECT_THAT(*ListDirectory(folder.path()), ElementsAre(DataOf(folder), "..data", "a"));
}

TEST(AtomicWriterTest, RejectsPathsOutsideOfVolume) {
  const TestFolder folder;
  for (const char* path : {"", "/etc/passwd", "..", "../x", "a/../../x", "..data", "..x/y"}) {
    EXPECT_FALSE(WriteAtomically(folder.path(), {{path, {"1", 0644}}}, std::nullopt, kNow).ok())
        << path;
  }
  EXPECT_THAT(*ListDirectory(folder.path()), ::testing::IsEmpty());
}

TEST(AtomicWriterTest, GroupCanReadFiles) {
  const TestFolder folder;
  const Payload payload = {{"a", {"1", 0400}}};
  ASSERT_TRUE(*WriteAtomically(folder.path(), payload, ::getegid(), kNow));
  EXPECT_EQ(folder.Mode("a"), 0440U);
  EXPECT_FALSE(*WriteAtomically(folder.path(), payload, ::getegid(), kNow));
}

}  // namespace
}  // namespace cox::kubelet

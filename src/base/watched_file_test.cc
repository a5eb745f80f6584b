// SPDX-License-Identifier: Apache-2.0
#include "base/watched_file.h"

#include <gtest/gtest.h>
#include <cstdlib>

#include <fstream>
#include <optional>

#include "base/testing/test_clock.h"

namespace cox {
namespace {

namespace fs = std::filesystem;
using std::chrono::minutes;

// Only contents that begin with "good" are valid.
Result<std::shared_ptr<const std::string>> ParseGood(std::span<const std::string> texts) {
  std::string all;
  for (const std::string& text : texts) {
    if (!text.starts_with("good")) return Status::BadRequest("not good");
    all += text;
  }
  return std::make_shared<const std::string>(all);
}

class WatchedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cox_watchXXXXXX").string();
    dir_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(dir_); }

  static void Write(const fs::path& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  void WriteAside(const fs::path& path, std::string_view text) {
    Write(dir_ / "aside", text);
    fs::rename(dir_ / "aside", path);
  }

  Status Open(std::vector<fs::path> paths) {
    Result<std::unique_ptr<WatchedFile<std::string>>> file = WatchedFile<std::string>::Open(
        ctx_, {.name = "test", .paths = std::move(paths), .read_again = minutes(1)}, ParseGood,
        [this](const Status& status) {
          MutexLock lock(mu_);
          reloads_.push_back(status);
          changed_.NotifyAll();
        });
    if (!file.ok()) return file.status();
    file_ = std::move(*file);
    return {};
  }

  // The result of the next reload that the test has not consumed yet.
  Status NextReload() {
    MutexLock lock(mu_);
    (void)ctx_.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return reloads_.size() > at_; });
    return reloads_[at_++];
  }
  // Waits for these contents; reloads before that may fail.
  void AwaitContents(const std::string& text) {
    while (*file_->Current() != text) (void)NextReload();
  }

  fs::path dir_;
  TestClock clock_;
  Context ctx_{clock_};
  Mutex mu_;
  CondVar changed_;
  std::vector<Status> reloads_ COX_GUARDED_BY(mu_);
  size_t at_ COX_GUARDED_BY(mu_) = 0;
  std::unique_ptr<WatchedFile<std::string>> file_;
};

TEST_F(WatchedFileTest, OpenFailsForMissingOrInvalidFile) {
  EXPECT_EQ(Open({dir_ / "none"}).reason(), Reason::kNotFound);
  Write(dir_ / "file", "bad");
  EXPECT_EQ(Open({dir_ / "file"}).message(), "not good");
}

TEST_F(WatchedFileTest, ReloadsAfterWriteAndAfterRename) {
  Write(dir_ / "file", "good 1");
  ASSERT_TRUE(Open({dir_ / "file"}).ok());
  EXPECT_EQ(*file_->Current(), "good 1");
  Write(dir_ / "file", "good 2");
  AwaitContents("good 2");
  WriteAside(dir_ / "file", "good 3");
  AwaitContents("good 3");
}

TEST_F(WatchedFileTest, KeepsLastGoodValueWhenFileIsInvalidOrMissing) {
  Write(dir_ / "file", "good 1");
  ASSERT_TRUE(Open({dir_ / "file"}).ok());
  const std::shared_ptr<const std::string> held = file_->Current();
  WriteAside(dir_ / "file", "bad");
  EXPECT_EQ(NextReload().message(), "not good");
  EXPECT_EQ(file_->Current(), held);
  fs::remove(dir_ / "file");
  EXPECT_EQ(NextReload().reason(), Reason::kNotFound);
  EXPECT_EQ(file_->Current(), held);
  WriteAside(dir_ / "file", "good 2");
  EXPECT_TRUE(NextReload().ok());
  EXPECT_EQ(*file_->Current(), "good 2");
  EXPECT_EQ(*held, "good 1");
}

// The kubelet updates Secret volumes this way: file -> ..data/file, ..data -> ..<time>/.
TEST_F(WatchedFileTest, FollowsTheSwappedLinkOfASecretVolume) {
  fs::create_directory(dir_ / "..1");
  fs::create_directory(dir_ / "..2");
  Write(dir_ / "..1" / "file", "good 1");
  Write(dir_ / "..2" / "file", "good 2");
  fs::create_symlink("..1", dir_ / "..data");
  fs::create_symlink("..data/file", dir_ / "file");
  ASSERT_TRUE(Open({dir_ / "file"}).ok());
  fs::create_symlink("..2", dir_ / "..data_tmp");
  fs::rename(dir_ / "..data_tmp", dir_ / "..data");
  AwaitContents("good 2");
  // The new target folder of the link is watched, too.
  WriteAside(dir_ / "..2" / "file", "good 3");
  AwaitContents("good 3");
}

TEST_F(WatchedFileTest, FollowsAbsoluteAndRecreatedLinks) {
  fs::create_directory(dir_ / "a");
  fs::create_directory(dir_ / "b");
  Write(dir_ / "a" / "file", "good 1");
  Write(dir_ / "b" / "file", "good 2");
  fs::create_directory_symlink(dir_ / "a", dir_ / "current");
  ASSERT_TRUE(Open({dir_ / "current" / "file"}).ok());
  fs::remove(dir_ / "current");
  fs::create_directory_symlink(dir_ / "b", dir_ / "current");
  AwaitContents("good 2");
}

TEST_F(WatchedFileTest, SeveralFilesFormOneValue) {
  Write(dir_ / "cert", "good c1 ");
  Write(dir_ / "key", "good k1");
  ASSERT_TRUE(Open({dir_ / "cert", dir_ / "key"}).ok());
  EXPECT_EQ(*file_->Current(), "good c1 good k1");
  WriteAside(dir_ / "key", "good k2");
  AwaitContents("good c1 good k2");
}

TEST_F(WatchedFileTest, IgnoresOtherFilesAndUnchangedContents) {
  Write(dir_ / "file", "good 1");
  ASSERT_TRUE(Open({dir_ / "file"}).ok());
  Write(dir_ / "other", "good other");
  WriteAside(dir_ / "file", "good 1");  // unchanged contents cause no reload
  WriteAside(dir_ / "file", "good 2");
  EXPECT_TRUE(NextReload().ok());
  EXPECT_EQ(*file_->Current(), "good 2");
}

TEST_F(WatchedFileTest, FollowsRecreatedFolder) {
  fs::create_directories(dir_ / "outer" / "inner");
  Write(dir_ / "outer" / "inner" / "file", "good 1");
  ASSERT_TRUE(Open({dir_ / "outer" / "inner" / "file"}).ok());
  fs::remove_all(dir_ / "outer");
  EXPECT_EQ(NextReload().reason(), Reason::kNotFound);
  fs::create_directories(dir_ / "outer" / "inner");
  Write(dir_ / "outer" / "inner" / "file", "good 2");
  AwaitContents("good 2");
}

TEST_F(WatchedFileTest, FollowsRepeatedlyRecreatedLink) {
  for (const char* name : {"0", "1"}) {
    fs::create_directory(dir_ / name);
    Write(dir_ / name / "file", std::string("good ") + name);
  }
  fs::create_directory_symlink(dir_ / "0", dir_ / "current");
  ASSERT_TRUE(Open({dir_ / "current" / "file"}).ok());
  for (int round = 1; round < 200; ++round) {
    const std::string name = std::to_string(round % 2);
    fs::remove(dir_ / "current");
    fs::create_directory_symlink(dir_ / name, dir_ / "current");
    AwaitContents("good " + name);
  }
}

// The file is neither renamed nor closed: there is no inotify event.
TEST_F(WatchedFileTest, PollingDetectsChangesWithoutInotifyEvents) {
  Write(dir_ / "file", "good 1");
  ASSERT_TRUE(Open({dir_ / "file"}).ok());
  std::ofstream open_file(dir_ / "file", std::ios::binary);
  open_file << "good 2" << std::flush;
  clock_.WaitForTimers(1);
  clock_.Advance(minutes(1));
  AwaitContents("good 2");
}

TEST_F(WatchedFileTest, FileAboveSizeLimitIsRejected) {
  EXPECT_EQ(ReadBoundedFile("/dev/zero", 100'000).status().message(),
            "cannot read /dev/zero: File too large");
}

}  // namespace
}  // namespace cox

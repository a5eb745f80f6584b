// SPDX-License-Identifier: Apache-2.0
#include "base/rotating_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/falloc.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace cox {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class RotatingLogTest : public testing::Test {
 protected:
  RotatingLogTest() {
    char pattern[] = "/tmp/cox-log-XXXXXX";
    dir_ = ::mkdtemp(pattern);
    path_ = dir_ / "x.log";
  }
  ~RotatingLogTest() override { fs::remove_all(dir_); }

  static std::string Read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  fs::path Old(int number) const { return path_.string() + "." + std::to_string(number); }
  // All files, the oldest first.
  std::string ReadAll() const {
    std::string all;
    for (int i = 2000; i > 0; --i) {
      if (fs::exists(Old(i))) all += Read(Old(i));
    }
    return all + Read(path_);
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_)) names.insert(entry.path().filename());
    return names;
  }
  std::unique_ptr<RotatingLogFile> Open(LogFileLimits limits) {
    auto opened = RotatingLogFile::Open(path_, limits);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return *std::move(opened);
  }

  fs::path dir_;
  fs::path path_;
};

TEST_F(RotatingLogTest, KeepsNumberOfOldFilesOfMaximumSize) {
  const auto log = Open({.max_bytes = 20, .max_files = 2});
  for (int i = 10; i < 20; ++i) log->Write("line " + std::to_string(i) + "\n");
  EXPECT_THAT(Names(), ElementsAre("x.log", "x.log.1", "x.log.2"));
  EXPECT_EQ(ReadAll(), "line 14\nline 15\nline 16\nline 17\nline 18\nline 19\n");
  EXPECT_EQ(Read(path_), "line 18\nline 19\n");
  for (const std::string& name : Names()) {
    EXPECT_EQ(fs::status(dir_ / name).permissions(), fs::perms(0600)) << name;
    EXPECT_LE(fs::file_size(dir_ / name), 20U) << name;
  }
}

TEST_F(RotatingLogTest, LimitsAreExact) {
  const auto log = Open({.max_bytes = 4, .max_files = 1});
  log->Write("ab\n");
  log->Write("\n");
  EXPECT_THAT(Names(), ElementsAre("x.log"));
  log->Write("\n");
  EXPECT_EQ(Read(Old(1)), "ab\n\n");
  // A line that is longer than the limit gets a file of its own.
  log->Write("longer\n");
  EXPECT_EQ(Read(path_), "longer\n");
  log->Write("x\n");
  EXPECT_EQ(Read(Old(1)), "longer\n");
  EXPECT_EQ(Read(path_), "x\n");
}

TEST_F(RotatingLogTest, WithoutLimitOrOldFiles) {
  {
    const auto log = Open({.max_bytes = 0, .max_files = 1});
    for (int i = 0; i < 100; ++i) log->Write("line\n");
    EXPECT_EQ(Read(path_).size(), 500U);
    EXPECT_THAT(Names(), ElementsAre("x.log"));
  }
  const auto log = Open({.max_bytes = 500, .max_files = 0});
  log->Write("line\n");
  EXPECT_EQ(Read(path_), "line\n");
  EXPECT_THAT(Names(), ElementsAre("x.log"));
}

TEST_F(RotatingLogTest, AppendsToLogOfEarlierProcess) {
  Open({.max_bytes = 10, .max_files = 3})->Write("one\n");
  const auto log = Open({.max_bytes = 10, .max_files = 3});
  log->Write("two\n");
  log->Write("three\n");
  EXPECT_EQ(Read(Old(1)), "one\ntwo\n");
  EXPECT_EQ(Read(path_), "three\n");
}

TEST_F(RotatingLogTest, FailedRotationLosesNoLine) {
  const auto log = Open({.max_bytes = 100, .max_files = 1});
  fs::create_directory(path_.string() + ".new");
  std::string all;
  for (int i = 0; i < 50; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    all += line;
    log->Write(line);
  }
  EXPECT_EQ(Read(path_), all);
  fs::remove(path_.string() + ".new");
  for (int i = 0; i < 3; ++i) {
    all += "after\n";
    log->Write("after\n");
  }
  EXPECT_EQ(ReadAll(), all);
  EXPECT_TRUE(fs::exists(Old(1)));
  EXPECT_EQ(log->lost(), 0U);
}

TEST_F(RotatingLogTest, ConcurrentWritersLoseNoLine) {
  constexpr int kThreads = 4;
  constexpr int kLines = 2000;
  {
    const auto log = Open({.max_bytes = 1000, .max_files = 2000});
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < kLines; ++i) {
          log->Write(std::to_string(t) + " " + std::to_string(i) + "\n");
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::istringstream all(ReadAll());
  std::vector<int> next(kThreads, 0);
  for (std::string line; std::getline(all, line);) {
    int t = 0;
    int i = 0;
    std::istringstream(line) >> t >> i;
    ASSERT_EQ(i, next[static_cast<size_t>(t)]++) << line;
  }
  EXPECT_EQ(next, std::vector<int>(kThreads, kLines));
}

class AppendedLogTest : public RotatingLogTest {
 protected:
  // Appends like another process.
  Fd OpenToAppend() {
    return Fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }
  static void Append(const Fd& file, std::string_view text) {
    EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Whether a range of a file can be removed here.
  bool CanCollapse() {
    const fs::path path = dir_ / "try";
    const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    Append(file, std::string(1 << 20, 'x'));
    struct stat info {};
    ::fstat(file.get(), &info);
    const bool can = ::fallocate(file.get(), FALLOC_FL_COLLAPSE_RANGE, 0, info.st_blksize) == 0;
    fs::remove(path);
    return can;
  }
};

TEST_F(AppendedLogTest, SmallOrMissingLogIsKept) {
  EXPECT_TRUE(RotateAppendedLog(path_, {.max_bytes = 10, .max_files = 2}).ok());
  EXPECT_THAT(Names(), IsEmpty());
  Append(OpenToAppend(), "0123456789");
  EXPECT_TRUE(RotateAppendedLog(path_, {.max_bytes = 10, .max_files = 2}).ok());
  EXPECT_TRUE(RotateAppendedLog(path_, {.max_bytes = 0, .max_files = 2}).ok());
  EXPECT_THAT(Names(), ElementsAre("x.log"));
}

TEST_F(AppendedLogTest, ContentsAreMovedAndFileStaysOpen) {
  const Fd file = OpenToAppend();
  const LogFileLimits limits{.max_bytes = 10, .max_files = 2};
  std::string all;
  // Smaller than a block, larger, and exactly as large as some.
  for (const size_t size : {11U, 4095U, 4096U, 4097U, 300'000U, 1U << 20}) {
    const std::string text = std::string(size, static_cast<char>('a' + size % 26)) + "\n";
    all += text;
    Append(file, text);
    ASSERT_TRUE(RotateAppendedLog(path_, limits).ok());
    EXPECT_LE(fs::file_size(path_), 4096U) << size;
    const std::string kept = ReadAll();
    EXPECT_TRUE(all.ends_with(kept)) << size;
    EXPECT_GE(kept.size(), text.size()) << size;
  }
  EXPECT_THAT(Names(), ElementsAre("x.log", "x.log.1", "x.log.2"));
  const std::string before = ReadAll();
  Append(file, "end\n");
  EXPECT_EQ(ReadAll(), before + "end\n");
}

TEST_F(AppendedLogTest, ErrorKeepsLogAndRemovesCopy) {
  Append(OpenToAppend(), std::string(10'000, 'x'));
  fs::create_directory(path_.string() + ".new");
  EXPECT_FALSE(RotateAppendedLog(path_, {.max_bytes = 10, .max_files = 2}).ok());
  EXPECT_EQ(fs::file_size(path_), 10'000U);
}

TEST_F(AppendedLogTest, LinesWrittenDuringRotationAreKept) {
  if (!CanCollapse()) GTEST_SKIP() << "the file system of /tmp cannot remove ranges";
  constexpr int kLines = 200'000;
  const Fd file = OpenToAppend();
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < kLines; ++i) Append(file, std::to_string(i) + "\n");
    done = true;
  });
  int rotations = 0;
  while (!done) {
    const auto size = fs::file_size(path_);
    // Below two blocks the log is truncated instead.
    const Status rotated = RotateAppendedLog(path_, {.max_bytes = 16'384, .max_files = 2000});
    EXPECT_TRUE(rotated.ok()) << rotated.ToString();
    if (size > 16'384) ++rotations;
  }
  writer.join();
  EXPECT_GT(rotations, 1);
  std::istringstream all(ReadAll());
  int next = 0;
  for (std::string line; std::getline(all, line);) ASSERT_EQ(line, std::to_string(next++));
  EXPECT_EQ(next, kLines);
}

}  // namespace
}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/output/log_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/testing/test_clock.h"
#include "net/gzip.h"

namespace cox::apiserver {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class LogFileTest : public testing::Test {
 protected:
  LogFileTest() {
    dir_ = fs::path(testing::TempDir()) /
           ("log_file." + std::to_string(getpid()) + "." +
            testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(dir_);
  }
  ~LogFileTest() override { fs::remove_all(dir_); }

  std::unique_ptr<LogFile> Open(LogFile::Options options) {
    options.path = (dir_ / "audit.log").string();
    Result<std::unique_ptr<LogFile>> file = LogFile::Open(ctx_, std::move(options));
    EXPECT_TRUE(file.ok()) << file.status().message();
    return file.ok() ? *std::move(file) : nullptr;
  }
  void Put(const std::string& name, const std::string& text) {
    fs::create_directories(dir_);
    std::ofstream(dir_ / name) << text;
  }
  std::string Read(const std::string& name) {
    std::ifstream in(dir_ / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  TestClock clock_;
  Context ctx_{clock_};
  fs::path dir_;
};

TEST_F(LogFileTest, AppendsLinesWithOwnerOnlyPermissions) {
  Put("audit.log", "old\n");
  fs::remove(dir_ / "audit.log");
  auto file = Open({});
  ASSERT_TRUE(file->Append("one\n").ok());
  ASSERT_TRUE(file->Append("two\n").ok());
  EXPECT_EQ(Read("audit.log"), "one\ntwo\n");
  struct stat info {};
  ASSERT_EQ(stat((dir_ / "audit.log").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  file.reset();
  ASSERT_TRUE(Open({})->Append("three\n").ok());
  EXPECT_EQ(Read("audit.log"), "one\ntwo\nthree\n");
}

TEST_F(LogFileTest, RotatesAtMaxSizeWithoutSplittingLines) {
  auto file = Open({.max_bytes = 10});
  for (const char* line : {"12345\n", "6789\n", "abc\n", "a line that is larger than a file\n"}) {
    ASSERT_TRUE(file->Append(line).ok());
    clock_.Advance(std::chrono::seconds(1));
  }
  EXPECT_THAT(Names(), ElementsAre("audit-2030-01-02T03-04-06.000.log",
                                   "audit-2030-01-02T03-04-08.000.log", "audit.log"));
  EXPECT_EQ(Read("audit-2030-01-02T03-04-06.000.log"), "12345\n");
  EXPECT_EQ(Read("audit-2030-01-02T03-04-08.000.log"), "6789\nabc\n");
  EXPECT_EQ(Read("audit.log"), "a line that is larger than a file\n");
}

TEST_F(LogFileTest, RotationsInSameMillisecondGetDistinctNames) {
  auto file = Open({.max_bytes = 4});
  for (const char* line : {"abc\n", "def\n", "ghi\n"}) ASSERT_TRUE(file->Append(line).ok());
  EXPECT_THAT(Names(), ElementsAre("audit-2030-01-02T03-04-05.000.log",
                                   "audit-2030-01-02T03-04-05.001.log", "audit.log"));
}

TEST_F(LogFileTest, RemovesRotatedFilesByCountAndAgeAndKeepsOthers) {
  Put("audit-2029-12-20T00-00-00.000.log", "too old\n");
  Put("audit-2030-01-01T00-00-00.000.log", "second\n");
  Put("audit-2030-01-01T00-00-01.000.log", "first\n");
  Put("audit-2030-01-01.log", "somebody's\n");
  Put("audit-other.log", "somebody's\n");
  auto file = Open({.max_bytes = 4, .max_age_days = 7, .max_backups = 2});
  ASSERT_TRUE(file->Append("abc\n").ok());
  ASSERT_TRUE(file->Append("def\n").ok());
  file->Settle();
  EXPECT_THAT(Names(),
              ElementsAre("audit-2030-01-01.log", "audit-2030-01-01T00-00-01.000.log",
                          "audit-2030-01-02T03-04-05.000.log", "audit-other.log", "audit.log"));
}

TEST_F(LogFileTest, CompressesRotatedFiles) {
  auto file = Open({.max_bytes = 4, .compress = true});
  ASSERT_TRUE(file->Append("abc\n").ok());
  ASSERT_TRUE(file->Append("def\n").ok());
  file->Settle();
  ASSERT_THAT(Names(), ElementsAre("audit-2030-01-02T03-04-05.000.log.gz", "audit.log"));
  EXPECT_EQ(net::Gunzip(Read("audit-2030-01-02T03-04-05.000.log.gz")), "abc\n");
  struct stat info {};
  ASSERT_EQ(stat((dir_ / "audit-2030-01-02T03-04-05.000.log.gz").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(LogFileTest, OpenFailureIsAnError) {
  Put("file", "");
  LogFile::Options options;
  options.path = (dir_ / "file" / "audit.log").string();
  EXPECT_FALSE(LogFile::Open(ctx_, options).ok());
}

TEST(FullLogFileTest, WriteFailureIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  TestClock clock;
  auto file = LogFile::Open(Context(clock), {.path = "/dev/full"});
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_FALSE((*file)->Append("line\n").ok());
}

}  // namespace
}  // namespace cox::apiserver

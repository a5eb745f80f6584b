// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/testing/test_clock.h"

namespace cox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class MemorySink final : public LogSink {
 public:
  void Write(std::string_view line) override {
    MutexLock lock(mu_);
    lines_.emplace_back(line);
  }
  std::vector<std::string> lines() {
    MutexLock lock(mu_);
    return lines_;
  }

 private:
  Mutex mu_;
  std::vector<std::string> lines_ COX_GUARDED_BY(mu_);
};

class LogTest : public testing::Test {
 protected:
  TestClock clock_;
  MemorySink sink_;
  Logging logging_{clock_, LogFormat::kText, sink_};
};

TEST_F(LogTest, WritesMessageAndFields) {
  const Logger log = logging_.For("apiserver");
  COX_INFO(log, "Started", {"port", 6443}, {"secure", true});
  COX_WARNING(log, "Slow");
  COX_ERROR(log, Status::NotFound("gone"), "Failed", {"pod", "web"});
  EXPECT_THAT(sink_.lines(),
              ElementsAre(HasSubstr("\"Started\" logger=\"apiserver\" port=6443 secure=true"),
                          HasSubstr("\"Slow\" logger=\"apiserver\""),
                          HasSubstr("\"Failed\" err=\"NotFound: gone\" logger=\"apiserver\" "
                                    "pod=\"web\"")));
  EXPECT_EQ(sink_.lines()[0][0], 'I');
  EXPECT_EQ(sink_.lines()[1][0], 'W');
  EXPECT_EQ(sink_.lines()[2][0], 'E');
  EXPECT_THAT(sink_.lines()[0], HasSubstr(" log_test.cc:"));
  EXPECT_THAT(sink_.lines()[0], HasSubstr(" " + std::to_string(gettid()) + " "));
}

TEST_F(LogTest, JsonFormat) {
  Logging logging(clock_, LogFormat::kJson, sink_);
  COX_V(logging.For("").With({{"requestID", "r1"}}), 0, "Started", {"port", 6443});
  EXPECT_THAT(sink_.lines(),
              ElementsAre(testing::MatchesRegex(
                  R"(\{"ts":1893553445000,"caller":"base/log_test.cc:[0-9]+","msg":"Started",)"
                  R"("requestID":"r1","v":0,"port":6443\}.)")));
}

TEST_F(LogTest, DisabledStatementEvaluatesNothing) {
  const Logger log = logging_.For("scheduler");
  int evaluated = 0;
  auto expensive = [&] { return ++evaluated; };
  COX_V(log, 1, "Skipped", {"n", expensive()});
  EXPECT_EQ(evaluated, 0);
  logging_.SetLevel("scheduler", 1);
  COX_V(log, 1, "Written", {"n", expensive()});
  EXPECT_EQ(evaluated, 1);
  EXPECT_THAT(sink_.lines(), SizeIs(1));
}

TEST_F(LogTest, LoggerIsEvaluatedOnce) {
  int evaluated = 0;
  auto get = [&] {
    ++evaluated;
    return logging_.For("a");
  };
  COX_INFO(get(), "Written");
  EXPECT_EQ(evaluated, 1);
}

TEST_F(LogTest, MacroIsOneStatementInIfElse) {
  const Logger log = logging_.For("a");
  bool other = false;
  if (!log.attached())
    COX_INFO(log, "No");
  else
    other = true;
  EXPECT_TRUE(other);
}

TEST_F(LogTest, ErrorsAreWrittenAtEveryLevel) {
  logging_.SetDefaultLevel(0);
  COX_ERROR(logging_.For("a"), Status::Internal("x"), "Failed");
  EXPECT_THAT(sink_.lines(), SizeIs(1));
}

TEST_F(LogTest, DefaultConstructedLoggerDiscards) {
  const Logger log;
  int evaluated = 0;
  COX_INFO(log, "Lost", {"n", ++evaluated});
  COX_WARNING(log, "Lost");
  COX_ERROR(log, Status::Internal("x"), "Lost", {"n", ++evaluated});
  COX_INFO(log.With({{"a", 1}}), "Lost");
  log.Write({"f", 1}, LogSeverity::kInfo, 0, nullptr, "Lost", {});
  EXPECT_EQ(evaluated, 0);
  EXPECT_FALSE(log.Enabled(0));
}

TEST_F(LogTest, LevelsArePerComponent) {
  const Logger scheduler = logging_.For("scheduler");
  const Logger apiserver = logging_.For("apiserver");
  logging_.SetDefaultLevel(2);
  logging_.SetLevel("scheduler", 4);
  EXPECT_TRUE(scheduler.Enabled(4));
  EXPECT_FALSE(scheduler.Enabled(5));
  EXPECT_TRUE(apiserver.Enabled(2));
  EXPECT_FALSE(apiserver.Enabled(3));
  logging_.SetLevel("later", 6);
  EXPECT_TRUE(logging_.For("later").Enabled(6)) << "set before its first logger";
  logging_.SetDefaultLevel(-3);
  EXPECT_TRUE(apiserver.Enabled(0)) << "information is never off";
}

TEST_F(LogTest, SpecReplacesTheLevelsOfComponents) {
  logging_.SetLevel("kubelet", 9);
  ASSERT_TRUE(logging_.SetLevels(" apiserver=4, scheduler=2 ").ok());
  EXPECT_EQ(logging_.LevelOf("apiserver"), 4);
  EXPECT_EQ(logging_.LevelOf("scheduler"), 2);
  EXPECT_EQ(logging_.LevelOf("kubelet"), 0);
  ASSERT_TRUE(logging_.SetLevels("").ok());
  EXPECT_EQ(logging_.LevelOf("apiserver"), 0);
}

TEST_F(LogTest, MalformedSpecChangesNothing) {
  logging_.SetLevel("a", 3);
  for (const char* spec : {"a", "a=", "=1", "a=x", "a=1x", "a=-1", "a=1,", "a=1,,b=2", "a=1=2",
                           "a= 1", "a=99999999999999999999", ","}) {
    const Status status = logging_.SetLevels(spec);
    EXPECT_TRUE(status.Is(Reason::kBadRequest)) << spec;
    EXPECT_EQ(logging_.LevelOf("a"), 3) << spec;
  }
}

TEST_F(LogTest, WithAddsAndReplacesFields) {
  const Logger log = logging_.For("").With({{"a", 1}, {"b", 1}});
  const Logger more = log.With({{"a", 2}, {"c", "x"}});
  COX_INFO(more, "M", {"b", 9});
  COX_INFO(log, "N");
  EXPECT_THAT(sink_.lines(), ElementsAre(testing::EndsWith("\"M\" a=2 c=\"x\" b=9\n"),
                                         testing::EndsWith("\"N\" a=1 b=1\n")));
}

TEST_F(LogTest, LevelsMayChangeConcurrently) {
  std::atomic<bool> stop = false;
  {
    std::jthread changer([&] {
      for (int i = 0; i < 1000; ++i) logging_.SetLevel("a", i % 3);
      stop = true;
    });
    std::jthread writer([&] {
      const Logger log = logging_.For("a");
      while (!stop) COX_V(log, 2, "Seen", {"n", 1});
    });
  }
  for (const std::string& line : sink_.lines()) ASSERT_THAT(line, testing::EndsWith("n=1\n"));
}

TEST(FdLogSink, ConcurrentWritesKeepLinesWhole) {
  std::string path = testing::TempDir() + "cox_log_testXXXXXX";
  const int fd = mkostemp(path.data(), O_APPEND);
  ASSERT_GE(fd, 0);
  unlink(path.c_str());
  FdLogSink sink(fd);
  const std::string line(100, 'x');
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) sink.Write(line + "\n");
      });
    }
  }
  std::string content(4 * 200 * 101 + 1, '\0');
  EXPECT_EQ(pread(fd, content.data(), content.size(), 0), 4 * 200 * 101);
  for (size_t i = 0; i < 4 * 200; ++i) ASSERT_EQ(content.substr(i * 101, 101), line + "\n");
  EXPECT_EQ(sink.lost(), 0u);
  close(fd);
}

TEST(FdLogSink, CountsLinesItCannotWrite) {
  FdLogSink closed(-1);
  closed.Write("line\n");
  EXPECT_EQ(closed.lost(), 1u);

  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  FdLogSink full(ends[1]);
  const std::string block(4096, 'x');
  for (int i = 0; i < 1000 && full.lost() == 0; ++i) full.Write(block);
  EXPECT_EQ(full.lost(), 1u) << "a full pipe does not block";
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/mutex.h"
#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "kubelet/logs/log_file.h"
#include "kubelet/logs/log_line.h"
#include "kubelet/logs/query.h"
#include "kubelet/logs/rotate.h"
#include "net/gzip.h"
#include "runtime/labels.h"
#include "runtime/testing/fake_runtime.h"

namespace cox::kubelet {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

const Time kNow = Time::FromUnix(1'900'000'000);

// --- Lines.

TEST(LogLineTest, ParsesTimeStreamTagAndText) {
  const auto line = ParseLogLine("2026-01-02T03:04:05.123456789Z stderr P half a line");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->time, "2026-01-02T03:04:05.123456789Z");
  EXPECT_TRUE(line->err);
  EXPECT_TRUE(line->partial);
  EXPECT_EQ(line->text, "half a line");
  EXPECT_EQ(ParseLogLine("2026-01-02T03:04:05Z stdout F ")->text, "");
  EXPECT_EQ(ParseLogLine("2026-01-02T03:04:05Z stdout F")->text, "");
  EXPECT_EQ(ParseLogLine("2026-01-02T03:04:05Z stdout F:x  a b ")->text, " a b ");
  for (const char* wrong : {"", "x", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z stdin F x",
                            "2026-01-02T03:04:05Z stdout Q x", "short stdout F x"}) {
    EXPECT_FALSE(ParseLogLine(wrong).has_value()) << wrong;
  }
}

TEST(LogOptionsTest, ParsesValidAndRejectsInvalidOptions) {
  const auto options = ParseLogOptions(
      "follow=true&tailLines=5&limitBytes=9&sinceSeconds=60&timestamps=1&stream=Stdout", kNow);
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_TRUE(options->follow);
  EXPECT_TRUE(options->timestamps);
  EXPECT_FALSE(options->previous);
  EXPECT_EQ(options->tail_lines, 5);
  EXPECT_EQ(options->limit_bytes, 9);
  EXPECT_EQ(options->since->unix_seconds(), 1'900'000'000 - 60);
  EXPECT_TRUE(options->out);
  EXPECT_FALSE(options->err);
  EXPECT_LT(*ParseLogOptions("sinceSeconds=9223372036854775807", kNow)->since, kNow);
  EXPECT_EQ(ParseLogOptions("sinceTime=2026-01-02T03%3A04%3A05Z", kNow)->since->ToString(),
            "2026-01-02T03:04:05Z");
  for (const char* wrong :
       {"tailLines=-1", "tailLines=x", "limitBytes=0", "sinceSeconds=0", "sinceTime=today",
        "stream=both", "sinceSeconds=5&sinceTime=2026-01-02T03:04:05Z"}) {
    EXPECT_TRUE(ParseLogOptions(wrong, kNow).status().Is(Reason::kInvalid)) << wrong;
  }
}

TEST(QueryTest, IsUnescaped) {
  const Query query("a=1&a=2+3&b=%2Fx%zz&flag");
  EXPECT_THAT(query.All("a"), ElementsAre("1", "2 3"));
  EXPECT_EQ(query.Get("b"), "/x%zz");
  EXPECT_TRUE(query.GetBool("flag"));
  EXPECT_FALSE(query.GetBool("b"));
  EXPECT_FALSE(query.Get("c").has_value());
}

// --- Files.

class LogFileTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string Line(int second, const std::string& text, const std::string& tag = "F",
                          const std::string& stream = "stdout") {
    std::ostringstream line;
    line << "2026-01-02T03:04:" << (second < 10 ? "0" : "") << second << ".5Z " << stream << " "
         << tag << " " << text << "\n";
    return line.str();
  }
  void Append(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }
  std::string Read(const LogOptions& options) {
    std::string all;
    const Status status = ReadLog(
        ctx_, path_, options, [] { return false; },
        [&](const std::string& bytes) {
          all += bytes;
          return Status();
        });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return all;
  }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(std::chrono::seconds(60));
  const std::string folder_ =
      testing::TempDir() + "logs-" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string path_ = folder_ + "/0.log";
};

TEST_F(LogFileTest, AppliesLogOptions) {
  Append(Line(1, "one") + Line(2, "err", "F", "stderr") + "garbage\n" + Line(3, "two ", "P") +
         Line(4, "halves") + Line(5, "last"));
  EXPECT_EQ(Read({}), "one\nerr\ntwo halves\nlast\n");
  EXPECT_EQ(Read({.tail_lines = 1}), "last\n");
  EXPECT_EQ(Read({.tail_lines = 0}), "");
  EXPECT_EQ(Read({.tail_lines = 100}), "one\nerr\ntwo halves\nlast\n");
  EXPECT_EQ(Read({.limit_bytes = 6}), "one\ner");
  EXPECT_EQ(Read({.since = *Time::Parse("2026-01-02T03:04:04Z")}), "halves\nlast\n");
  EXPECT_EQ(Read({.out = false}), "err\n");
  EXPECT_EQ(Read({.err = false}), "one\ntwo halves\nlast\n");
  // A line in several parts has one timestamp.
  EXPECT_EQ(Read({.timestamps = true, .tail_lines = 3}),
            "2026-01-02T03:04:03.5Z two halves\n2026-01-02T03:04:05.5Z last\n");
}

TEST_F(LogFileTest, FindsTailAcrossBlocks) {
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = std::to_string(i) + std::string(i % 97, 'x');
    Append(Line(1, text));
    if (i >= 5000 - 3000) expected += text + "\n";
  }
  EXPECT_GT(fs::file_size(path_), 4 * 64 * 1024u);
  EXPECT_EQ(Read({.tail_lines = 3000}), expected);
}

TEST_F(LogFileTest, MissingIsNotFound) {
  EXPECT_TRUE(
      ReadLog(
          ctx_, path_, {}, [] { return false; }, [](const std::string&) { return Status(); })
          .Is(Reason::kNotFound));
}

TEST_F(LogFileTest, OnlyRegularFilesAreRead) {
  const std::string secret = folder_ + "/secret";
  std::ofstream(secret) << Line(1, "secret");
  const std::function<void()> replacements[] = {
      [&] { fs::create_symlink(secret, path_); }, [&] { fs::create_directory(path_); },
      [&] { ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0); },  // an open that waits would hang
  };
  for (const auto& replace : replacements) {
    replace();
    const Status status = ReadLog(
        ctx_, path_, {}, [] { return false; },
        [](const std::string& bytes) {
          ADD_FAILURE() << bytes;
          return Status();
        });
    EXPECT_TRUE(status.Is(Reason::kNotFound)) << status.ToString();
    fs::remove(path_);
  }
}

// Follows a log in a thread.
class Follower {
 public:
  Follower(const Context& ctx, std::string path, LogOptions options)
      : ctx_(ctx), scope_(ctx, "follow") {
    options.follow = true;
    const Status started =
        scope_.Go("follow", [this, path = std::move(path), options](Context& run) {
          const Status ended = ReadLog(
              run, path, options, [this] { return Running(); },
              [this](const std::string& bytes) {
                MutexLock lock(mu_);
                seen_ += bytes;
                changed_.NotifyAll();
                return Status();
              });
          MutexLock lock(mu_);
          ended_ = ended;
          done_ = true;
          changed_.NotifyAll();
        });
    EXPECT_TRUE(started.ok());
  }
  ~Follower() {
    scope_.Stop();
    scope_.Wait();
  }
  void Await(const std::string& text) {
    MutexLock lock(mu_);
    EXPECT_TRUE(ctx_.Await(mu_, changed_, [&]() COX_REQUIRES(mu_) { return seen_ == text; }).ok())
        << seen_;
  }
  Status AwaitEnd() {
    MutexLock lock(mu_);
    EXPECT_TRUE(ctx_.Await(mu_, changed_, [&]() COX_REQUIRES(mu_) { return done_; }).ok());
    return ended_;
  }
  // Ends the container. `write_last` is called when the reader checks the container's state,
  // after it has read everything that was written before.
  void End(std::function<void()> write_last) {
    MutexLock lock(mu_);
    write_last_ = std::move(write_last);
  }
  void Stop() { scope_.Stop(); }

 private:
  bool Running() {
    MutexLock lock(mu_);
    if (write_last_ == nullptr) return true;
    write_last_();
    return false;
  }

  const Context ctx_;
  Mutex mu_;
  std::function<void()> write_last_ COX_GUARDED_BY(mu_);
  CondVar changed_;
  std::string seen_ COX_GUARDED_BY(mu_);
  bool done_ COX_GUARDED_BY(mu_) = false;
  Status ended_ COX_GUARDED_BY(mu_);
  Scope scope_;
};

TEST_F(LogFileTest, FollowsAcrossRotationUntilContainerEnds) {
  Append(Line(1, "old") + Line(2, "one"));
  Follower follower(ctx_, path_, {.tail_lines = 1});
  follower.Await("one\n");
  Append(Line(3, "two"));
  follower.Await("one\ntwo\n");
  // The last line of the old file is written before the runtime reopens the log.
  std::ofstream old(path_, std::ios::app);
  fs::rename(path_, path_ + ".20260102-030405");
  old << Line(4, "three");
  old.close();
  Append(Line(5, "four"));
  follower.Await("one\ntwo\nthree\nfour\n");
  follower.End([this] { Append(Line(6, "five")); });
  EXPECT_TRUE(follower.AwaitEnd().ok());
  follower.Await("one\ntwo\nthree\nfour\nfive\n");
}

TEST_F(LogFileTest, FollowWaitsForFileAndEndsWithContext) {
  Follower follower(ctx_, path_, {});
  Append(Line(1, "now"));
  follower.Await("now\n");
  follower.Stop();
  EXPECT_FALSE(follower.AwaitEnd().ok());
}

TEST_F(LogFileTest, FollowEndsAtByteLimit) {
  Append(Line(1, "12345"));
  Follower follower(ctx_, path_, {.limit_bytes = 8});
  follower.Await("12345\n");
  Append(Line(2, "6789"));
  EXPECT_TRUE(follower.AwaitEnd().ok());
  follower.Await("12345\n67");
}

// --- Rotation.

TEST(RotationPlanTest, RemovesOldestAndCompressesOthers) {
  const RotationPlan plan =
      PlanRotation("0.log",
                   {"0.log", "1.log", "0.log.20260101-000000.gz", "0.log.20260102-000000.gz",
                    "0.log.20260103-000000.gz", "0.log.20260104-000000",
                    "0.log.20260105-000000.tmp", "0.log.20260103-000000"},
                   5);
  EXPECT_THAT(plan.remove, ElementsAre("0.log.20260103-000000", "0.log.20260105-000000.tmp",
                                       "0.log.20260101-000000.gz"));
  EXPECT_THAT(plan.pack, ElementsAre("0.log.20260104-000000"));
  EXPECT_THAT(PlanRotation("0.log", {"0.log"}, 2).remove, IsEmpty());
  EXPECT_THAT(PlanRotation("0.log", {"0.log", "0.log.20260101-000000"}, 2).remove,
              ElementsAre("0.log.20260101-000000"));
}

TEST_F(LogFileTest, RotatesLargeLogsOfRunningContainers) {
  TestClock clock;
  Context ctx(clock);
  runtime::FakeRuntime runtime(clock);
  runtime.Publish("busybox");
  cri::v1::PodSandboxConfig sandbox;
  runtime::MarkSandbox({"u", "default", "web"}, 0, &sandbox);
  const auto sandbox_id = runtime.RunSandbox(ctx, sandbox, "");
  cri::v1::ContainerConfig config;
  const auto image = runtime.PullImage(ctx, {.image = "busybox"}, nullptr, sandbox);
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  config.image = cri::v1::ImageSpec{.image = *image};
  runtime::MarkContainer({"u", "default", "web"}, "main", 2, 1, &config);
  const auto id = runtime.CreateContainer(ctx, *sandbox_id, config, sandbox);
  ASSERT_TRUE(id.ok()) << id.status().ToString();
  ASSERT_TRUE(runtime.StartContainer(ctx, *id).ok());

  LogRotator rotator({.pod_logs_dir = folder_, .max_bytes = 100, .max_files = 3}, runtime);
  const fs::path container = folder_ + "/default_web_u/main";
  fs::create_directories(container);
  const auto fill = [&](const std::string& name, char with) {
    std::ofstream(container / name) << std::string(101, with);
  };
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(container)) {
      found.insert(entry.path().filename());
    }
    return found;
  };
  fill("1.log", 'x');  // of a previous instance
  ASSERT_TRUE(rotator.RotateAll(ctx).ok());
  EXPECT_THAT(names(), ElementsAre("1.log"));
  fill("2.log", 'a');
  ASSERT_TRUE(rotator.RotateAll(ctx).ok());
  EXPECT_THAT(names(), ElementsAre("1.log", "2.log.20300102-030405"));
  // If the runtime fails to reopen the log, the log keeps its name, so that no lines are lost.
  fill("2.log", 'b');
  clock.Advance(std::chrono::seconds(1));
  runtime.FailNext("ReopenLog", Status::Unavailable("busy"));
  EXPECT_FALSE(rotator.RotateAll(ctx).ok());
  EXPECT_THAT(names(), ElementsAre("1.log", "2.log", "2.log.20300102-030405.gz"));
  ASSERT_TRUE(rotator.RotateAll(ctx).ok());
  EXPECT_THAT(names(), ElementsAre("1.log", "2.log.20300102-030405.gz", "2.log.20300102-030406"));
  std::ifstream packed(container / "2.log.20300102-030405.gz", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(packed)), {});
  EXPECT_EQ(net::Gunzip(bytes), std::string(101, 'a'));
  fill("2.log", 'c');
  clock.Advance(std::chrono::seconds(1));
  ASSERT_TRUE(rotator.RotateAll(ctx).ok());
  EXPECT_THAT(names(), ElementsAre("1.log", "2.log.20300102-030406.gz", "2.log.20300102-030407"));
  // As if the kubelet had been killed after the rename: ReopenLog is retried until it succeeds.
  runtime.FailNext("ReopenLog", Status::Unavailable("busy"));
  EXPECT_FALSE(rotator.RotateAll(ctx).ok());
  EXPECT_TRUE(rotator.RotateAll(ctx).ok());
  // Rotated logs of a removed container are removed.
  fill("0.log.20300102-030400.gz", 'z');
  ASSERT_TRUE(rotator.RotateAll(ctx).ok());
  EXPECT_THAT(names(), ElementsAre("1.log", "2.log.20300102-030406.gz", "2.log.20300102-030407"));
}

}  // namespace
}  // namespace cox::kubelet

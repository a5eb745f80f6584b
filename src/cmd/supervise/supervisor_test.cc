// SPDX-License-Identifier: Apache-2.0
#include "cmd/supervise/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "base/clock.h"
#include "base/fd.h"

namespace cox::cmd {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() {
    char pattern[] = "/tmp/cox-supervise-XXXXXX";
    dir_ = ::mkdtemp(pattern);
    mark_ = (dir_ / "mark").string();
  }
  ~SupervisorTest() override {
    while (const auto left = FindProcess("sh", mark_)) {
      (void)EndProcess(ctx_, *left, milliseconds(0));
    }
    fs::remove_all(dir_);
  }

  // A shell that appends a line to a file at each start and then executes `then`.
  SupervisedProgram Shell(const std::string& then) {
    return {.name = "shell",
            .start = {.arguments = {"sh", "-c", "echo started >> $0; " + then, mark_},
                      .log = dir_ / "log"},
            .mark = mark_,
            .probe = [this](Context&) {
              return Starts() > 0 ? Status() : Status::Unavailable("not yet");
            }};
  }
  int Starts() {
    std::ifstream file(mark_);
    int count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }
  bool Until(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      (void)ctx_.Sleep(milliseconds(5));
    }
    return false;
  }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(seconds(60));
  fs::path dir_;
  std::string mark_;
};

constexpr char kWait[] = "while :; do sleep 0.05; done";

TEST_F(SupervisorTest, RestartsKilledProgram) {
  auto made = Supervisor::Start(ctx_, Shell(kWait));
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_TRUE((*made)->WaitReady(ctx_).ok());
  const Process first = (*made)->process();
  ::kill(first.pid, SIGKILL);
  EXPECT_TRUE(Until([&] { return (*made)->restarts() == 1 && Starts() == 2; }));
  EXPECT_NE((*made)->process(), first);
  EXPECT_FALSE(Runs(first));
  EXPECT_TRUE((*made)->End(ctx_, seconds(5)).ok());
  EXPECT_FALSE(FindProcess("sh", mark_).has_value());
}

TEST_F(SupervisorTest, CallsServedAgainAfterRestart) {
  SupervisedProgram program = Shell(kWait);
  std::atomic<int> told = 0;
  program.served_again = [&](const Context&) { told = Starts(); };
  auto made = Supervisor::Start(ctx_, std::move(program));
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_TRUE((*made)->WaitReady(ctx_).ok());
  EXPECT_EQ(told, 0) << "the first is in nobody's place";
  ::kill((*made)->process().pid, SIGKILL);
  EXPECT_TRUE(Until([&] { return told > 0; }));
  EXPECT_TRUE((*made)->End(ctx_, seconds(5)).ok());
}

TEST_F(SupervisorTest, RotatesLogOfRunningAndOfAdoptedProgram) {
  SupervisedProgram program = Shell("while :; do printf '%01000d\\n' 0; sleep 0.01; done");
  program.log_limits = {.max_bytes = 20'000, .max_files = 2};
  program.log_check_interval = milliseconds(5);
  const auto rotated = [&](int number) {
    return fs::exists(program.start.log.string() + "." + std::to_string(number));
  };
  Process first;
  {
    auto made = Supervisor::Start(ctx_, program);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    EXPECT_TRUE(Until([&] { return rotated(1); }));
    first = (*made)->process();
  }
  auto made = Supervisor::Start(ctx_, program);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ((*made)->process(), first);
  EXPECT_TRUE(Until([&] { return rotated(2); }));
  EXPECT_EQ((*made)->restarts(), 0);
  EXPECT_TRUE((*made)->End(ctx_, milliseconds(100)).ok());
  EXPECT_FALSE(rotated(3));
}

TEST_F(SupervisorTest, RotatesLargeLogBeforeStart) {
  SupervisedProgram program = Shell(kWait);
  program.log_limits = {.max_bytes = 10, .max_files = 2};
  std::ofstream(program.start.log) << "the log of an earlier process\n";
  auto made = Supervisor::Start(ctx_, program);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ(LogTail(program.start.log.string() + ".1", 1), "the log of an earlier process\n");
  EXPECT_EQ(LogTail(program.start.log, 1), "");
  EXPECT_TRUE((*made)->End(ctx_, seconds(5)).ok());
}

TEST_F(SupervisorTest, SetsOomScoreOfStartedRestartedAndAdoptedProgram) {
  SupervisedProgram program = Shell(kWait);
  const auto has_score = [](const Process& process, int score) {
    std::ifstream file("/proc/" + std::to_string(process.pid) + "/oom_score_adj");
    int is = -10'000;
    file >> is;
    return is == score;
  };
  {
    program.oom_score_adj = 700;
    auto made = Supervisor::Start(ctx_, program);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    EXPECT_TRUE(has_score((*made)->process(), 700));
    ::kill((*made)->process().pid, SIGKILL);
    EXPECT_TRUE(Until([&] { return (*made)->restarts() == 1; }));
    EXPECT_TRUE(has_score((*made)->process(), 700));
  }
  program.oom_score_adj = 800;
  auto made = Supervisor::Start(ctx_, program);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_TRUE((*made)->adopted());
  EXPECT_TRUE(has_score((*made)->process(), 800));
  EXPECT_TRUE((*made)->End(ctx_, seconds(5)).ok());
}

TEST_F(SupervisorTest, ProgramInheritsNoFileDescriptors) {
  const Fd ours(::dup(STDERR_FILENO));  // without O_CLOEXEC, like sockets of libraries
  ASSERT_GT(ours.get(), 2);
  auto made = Supervisor::Start(ctx_, Shell(kWait));
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_TRUE((*made)->WaitReady(ctx_).ok());
  const std::string files = "/proc/" + std::to_string((*made)->process().pid) + "/fd/";
  EXPECT_TRUE(fs::exists(fs::symlink_status(files + "2")));
  EXPECT_FALSE(fs::exists(fs::symlink_status(files + std::to_string(ours.get()))));
  EXPECT_TRUE((*made)->End(ctx_, seconds(5)).ok());
}

TEST_F(SupervisorTest, AdoptsProcessOfEarlierSupervisor) {
  Process first;
  {
    auto made = Supervisor::Start(ctx_, Shell(kWait));
    ASSERT_TRUE(made.ok());
    EXPECT_TRUE((*made)->WaitReady(ctx_).ok());
    EXPECT_FALSE((*made)->adopted());
    first = (*made)->process();
  }
  EXPECT_TRUE(Runs(first));
  auto made = Supervisor::Start(ctx_, Shell(kWait));
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE((*made)->adopted());
  EXPECT_EQ((*made)->process(), first);
  EXPECT_EQ(Starts(), 1);
  EXPECT_TRUE((*made)->End(ctx_, seconds(5)).ok());
  EXPECT_FALSE(Runs(first));
}

TEST_F(SupervisorTest, ErrorContainsEndOfLog) {
  SupervisedProgram program = Shell("echo no such disk; exit 1");
  program.probe = [](Context&) { return Status::Unavailable("refused"); };
  auto made = Supervisor::Start(ctx_, std::move(program));
  ASSERT_TRUE(made.ok());
  const Status status = (*made)->WaitReady(ctx_);
  EXPECT_NE(status.message().find("no such disk"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("refused"), std::string::npos);
}

TEST_F(SupervisorTest, KillsProgramThatIgnoresSigterm) {
  auto made = Supervisor::Start(ctx_, Shell(std::string("trap '' TERM; ") + kWait));
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE((*made)->WaitReady(ctx_).ok());
  EXPECT_TRUE((*made)->End(ctx_, milliseconds(100)).ok());
  EXPECT_FALSE(Runs((*made)->process()));
}

TEST_F(SupervisorTest, MissingProgramIsNotFound) {
  SupervisedProgram program = Shell("");
  program.start.arguments = {"no-such-program-here"};
  const auto made = Supervisor::Start(ctx_, std::move(program));
  EXPECT_TRUE(made.status().Is(Reason::kNotFound));
}

TEST_F(SupervisorTest, FindsAllProcessesAndDeletedWorkingDirectories) {
  const fs::path folder = dir_ / "folder";
  fs::create_directory(folder);
  const auto shell = [&](const std::string& then) {
    const auto started = StartProgram(
        {.arguments = {"sh", "-c", then + kWait, mark_}, .environment = {}, .log = dir_ / "log"});
    EXPECT_TRUE(started.ok()) << started.status().ToString();
    return started.ok() ? *started : Process{};
  };
  const Process with = shell("");
  const Process without = shell("cd '" + folder.string() + "'; ");
  EXPECT_TRUE(Until([&] {
    std::error_code error;
    return fs::read_symlink("/proc/" + std::to_string(without.pid) + "/cwd", error) == folder;
  }));
  EXPECT_FALSE(HasLostItsFolder(without));
  fs::remove(folder);
  EXPECT_TRUE(HasLostItsFolder(without));
  EXPECT_FALSE(HasLostItsFolder(with));
  // A forked child has the same command line until it calls exec.
  EXPECT_THAT(FindProcesses("sh", mark_), ::testing::IsSupersetOf({with, without}));
}

TEST_F(SupervisorTest, ProcessOfAnotherUserIsNotFound) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can start processes of another user";
  const auto start = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"sh", "-c", kWait, mark_});
    const auto started = StartProgram({.arguments = arguments, .log = dir_ / "log"});
    EXPECT_TRUE(started.ok()) << started.status().ToString();
    return *started;
  };
  // A process of another user, and one of which only the real user ID is that of another user, as
  // in a setuid program.
  std::vector<Process> others;
  others.push_back(start({"setpriv", "--reuid=65534", "--clear-groups"}));
  others.push_back(start({"setpriv", "--ruid=65534"}));
  for (const Process& other : others) {
    EXPECT_TRUE(Until([&] {
      std::ifstream file("/proc/" + std::to_string(other.pid) + "/comm");
      std::string name;
      return std::getline(file, name) && name == "sh";
    }));
  }
  EXPECT_FALSE(FindProcess("sh", mark_).has_value());
  for (const Process& other : others) (void)EndProcess(ctx_, other, milliseconds(0));
}

TEST(ProcessTest, StartTimeDistinguishesReusedPid) {
  const auto self = ProcessOf(::getpid());
  ASSERT_TRUE(self.has_value());
  EXPECT_TRUE(Runs(*self));
  EXPECT_FALSE(Runs({.pid = self->pid, .started = self->started + 1}));
}

}  // namespace
}  // namespace cox::cmd

// SPDX-License-Identifier: Apache-2.0
#include "base/oom_score.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <string>

namespace cox {
namespace {

int ScoreOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/oom_score_adj");
  int score = -10'000;
  file >> score;
  return score;
}

// The exit code of a process that runs `work`.
int InChild(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(work());
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OomScoreTest, SetsOwnScore) {
  EXPECT_EQ(InChild([] {
              const Status set = SetOomScoreAdj(0, 700);
              return set.ok() && ScoreOf(::getpid()) == 700 ? 0 : 1;
            }),
            0);
}

TEST(OomScoreTest, SetsScoreOfAnotherProcess) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  EXPECT_TRUE(SetOomScoreAdj(pid, 700).ok());
  EXPECT_EQ(ScoreOf(pid), 700);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(SetOomScoreAdj(pid, 700).Is(Reason::kNotFound));
}

TEST(OomScoreTest, LoweringWithoutPermissionIsForbidden) {
  EXPECT_EQ(InChild([] {
              if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 2;
              ::prctl(PR_SET_DUMPABLE, 1);
              const int before = ScoreOf(::getpid());
              if (!SetOomScoreAdj(0, -1000).Is(Reason::kForbidden)) return 1;
              TrySetOomScoreAdj(Logger(), 0, -1000);
              return ScoreOf(::getpid()) == before ? 0 : 3;
            }),
            0);
}

TEST(OomScoreTest, InvalidScoreIsRejected) {
  EXPECT_FALSE(SetOomScoreAdj(0, 1001).ok());
  EXPECT_FALSE(SetOomScoreAdj(0, -1001).ok());
}

}  // namespace
}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resources/orphans.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/fd.h"

namespace cox::kubelet {
namespace {

namespace fs = std::filesystem;

// A process with a child that runs until it is killed.
class Family {
 public:
  // The parent's command line begins with `program`.
  explicit Family(const char* program) {
    int words[2];
    int end[2];
    if (::pipe2(words, O_CLOEXEC) != 0 || ::pipe2(end, O_CLOEXEC) != 0) return;
    parent_ = ::fork();
    if (parent_ == 0) {
      ::dup2(end[0], STDIN_FILENO);
      ::dup2(words[1], STDOUT_FILENO);
      constexpr char kScript[] = "sleep 600 >/dev/null & echo $!; read end; wait $!; exit $?";
      ::execl("/bin/sh", program, "-c", kScript, nullptr);
      ::_exit(127);
    }
    ::close(words[1]);
    ::close(end[0]);
    end_.Reset(end[1]);
    std::FILE* said = ::fdopen(words[0], "r");
    if (std::fscanf(said, "%d", &child_) != 1) child_ = -1;
    std::fclose(said);
  }

  pid_t parent() const { return parent_; }
  pid_t child() const { return child_; }
  // The parent exits with the exit status of its child.
  void LetEnd() { end_.Reset(); }

 private:
  pid_t parent_ = -1;
  pid_t child_ = -1;
  Fd end_;
};

int Await(pid_t pid) {
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid ? status : -1;
}

// Uses a plain file for cgroup.procs, the only file that EndOrphans reads from the group.
class OrphansTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(group_); }
  void TearDown() override { fs::remove_all(group_); }
  void Contains(const std::string& processes) {
    std::ofstream(group_ + "/cgroup.procs") << processes;
  }

  const std::string group_ = ::testing::TempDir() + "orphans-" + std::to_string(::getpid());
};

TEST_F(OrphansTest, ShimOfOrphanIsTerminated) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // to get the exit status of the child
  const Family family("/usr/bin/containerd-shim-runc-v2");
  ASSERT_GT(family.child(), 0);
  Contains("0\n" + std::to_string(family.child()) + "\n");
  EndOrphans(group_);
  const int end = Await(family.parent());
  EXPECT_TRUE(WIFSIGNALED(end) && WTERMSIG(end) == SIGTERM) << end;
  const int end_of_child = Await(family.child());
  EXPECT_TRUE(WIFSIGNALED(end_of_child) && WTERMSIG(end_of_child) == SIGKILL) << end_of_child;
}

TEST_F(OrphansTest, OtherParentsAreNotTerminated) {
  Family family("/usr/bin/not-a-containerd-shim");
  ASSERT_GT(family.child(), 0);
  Contains(std::to_string(family.child()) + "\n");
  EndOrphans(group_);
  family.LetEnd();
  const int end = Await(family.parent());
  EXPECT_TRUE(WIFEXITED(end) && WEXITSTATUS(end) == 128 + SIGKILL) << end;
}

TEST_F(OrphansTest, EmptyOrMissingGroupIsIgnored) {
  Contains("");
  EndOrphans(group_);
  EndOrphans(group_ + "/not/there");
}

}  // namespace
}  // namespace cox::kubelet

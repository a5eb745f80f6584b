// SPDX-License-Identifier: Apache-2.0
#include "base/program.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "base/clock.h"
#include "base/fd.h"

namespace cox {
namespace {

using namespace std::chrono_literals;

class ProgramTest : public testing::Test {
 protected:
  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(60s);
};

TEST_F(ProgramTest, ReturnsOutputAndExitCode) {
  struct Case {
    std::vector<std::string> arguments;
    int exit_code;
    const char* output;
  };
  const Case cases[] = {
      {{"echo", "a b", "$HOME", "; exit 1"}, 0, "a b $HOME ; exit 1\n"},  // no shell expands it
      {{"/bin/sh", "-c", "printf x; exit 3"}, 3, "x"},
      {{"sh", "-c", "kill -9 $$"}, 128 + 9, ""},
      {{"sh", "-c", "cat; echo end"}, 0, "end\n"},  // no input
      {{"sh", "-c", "exec 1>&-; exit 4"}, 4, ""},
  };
  for (const Case& c : cases) {
    const auto result = RunProgram(ctx_, {.arguments = c.arguments, .environment = {}});
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(result->exit_code, c.exit_code) << c.arguments.back();
    EXPECT_EQ(result->output, c.output);
  }
}

TEST_F(ProgramTest, EnvironmentIsInheritedAndExtended) {
  setenv("COX_PROGRAM_TEST_A", "ours", 1);
  setenv("COX_PROGRAM_TEST_B", "ours", 1);
  const auto result =
      RunProgram(ctx_, {.arguments = {"sh", "-c", "echo $COX_PROGRAM_TEST_A $COX_PROGRAM_TEST_B"},
                        .environment = {{"COX_PROGRAM_TEST_B", "given"}}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output, "ours given\n");
}

TEST_F(ProgramTest, InheritsNoFiles) {
  const Fd ours(dup(STDERR_FILENO));  // without O_CLOEXEC
  ASSERT_GT(ours.get(), 2);
  const std::string path = "/proc/self/fd/" + std::to_string(ours.get());
  const auto result =
      RunProgram(ctx_, {.arguments = {"sh", "-c", "test ! -e " + path}, .environment = {}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 0);
}

TEST_F(ProgramTest, MissingProgramIsNotFound) {
  for (const char* name : {"cox-no-such-program", "/nowhere/at/all", "/etc/passwd", ""}) {
    EXPECT_EQ(RunProgram(ctx_, {.arguments = {name}, .environment = {}}).status().reason(),
              Reason::kNotFound)
        << name;
  }
}

TEST_F(ProgramTest, IsKilledWhenTheContextStops) {
  Context call = ctx_.WithTimeout(50ms);
  // The shell's child also has the pipe open.
  const auto result =
      RunProgram(call, {.arguments = {"sh", "-c", "sleep 600; echo"}, .environment = {}});
  EXPECT_EQ(result.status(), call.status());
}

TEST_F(ProgramTest, DoesNotWaitForItsChildren) {
  const auto result =
      RunProgram(ctx_, {.arguments = {"sh", "-c", "sleep 50 & echo $!"}, .environment = {}});
  ASSERT_TRUE(result.ok());
  const pid_t left = static_cast<pid_t>(std::stol(result->output));
  EXPECT_GT(left, 0);
  kill(left, SIGKILL);
}

TEST_F(ProgramTest, OutputIsLimited) {
  const auto result =
      RunProgram(ctx_, {.arguments = {"yes"}, .environment = {}, .max_output = 100'000});
  EXPECT_EQ(result.status().reason(), Reason::kRequestEntityTooLarge);
}

}  // namespace
}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#include "base/run_until_signal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/await_stop.h"
#include "base/clock.h"

namespace cox {
namespace {

// Runs in a separate process, because signals are sent to the process. Exits with 0 if `run`
// returned OK.
[[noreturn]] void RunAndExit(const std::function<Status(Context&)>& run) {
  const sigset_t signals = BlockSignals({SIGTERM, SIGINT});
  RealClock clock;
  Context ctx(clock);
  const UntilSignalOptions options = {
      .signals = signals,
      .name = "run",
      .trim_after = {.tv_sec = 3600, .tv_nsec = 0},
      .on_signal =
          [](int signal, bool again) {
            std::fputs(signal == SIGINT ? "INT" : "TERM", stderr);
            std::fputs(again ? " again." : ".", stderr);
          },
  };
  const Status status = RunUntilSignal(ctx, options, [&] { return run(ctx); });
  std::fputs(status.message().c_str(), stderr);
  std::exit(status.ok() ? 0 : 3);
}

class RunUntilSignalTest : public testing::Test {
 protected:
  RunUntilSignalTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(RunUntilSignalTest, ReturnsTheResultOfRun) {
  EXPECT_EXIT(RunAndExit([](Context&) { return Status(); }), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(RunAndExit([](Context&) { return Status::Internal("no luck"); }),
              testing::ExitedWithCode(3), "^no luck$");
}

TEST_F(RunUntilSignalTest, FirstSignalStopsTheContext) {
  EXPECT_EXIT(RunAndExit([](Context& ctx) {
                ::kill(::getpid(), SIGINT);
                return AwaitStop(ctx) == Context::Canceled() ? Status() : Status::Internal("other");
              }),
              testing::ExitedWithCode(0), "^INT\\.$");
}

TEST_F(RunUntilSignalTest, SecondSignalExits) {
  EXPECT_EXIT(RunAndExit([](Context& ctx) {
                ::kill(::getpid(), SIGINT);
                (void)AwaitStop(ctx);
                ::kill(::getpid(), SIGTERM);
                RealClock clock;
                return AwaitStop(Context(clock));  // blocks forever
              }),
              testing::ExitedWithCode(1), "^INT\\.TERM again\\.$");
}

}  // namespace
}  // namespace cox

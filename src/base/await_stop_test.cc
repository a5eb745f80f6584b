// SPDX-License-Identifier: Apache-2.0
#include "base/await_stop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/testing/test_clock.h"

namespace cox {
namespace {

class AwaitStopTest : public testing::Test {
 protected:
  TestClock clock_;
  Context ctx_{clock_};
};

TEST_F(AwaitStopTest, ReturnsTheReasonOfTheStop) {
  std::jthread stopper([&] { ctx_.Stop(Status::Forbidden("enough")); });
  EXPECT_EQ(AwaitStop(ctx_), Status::Forbidden("enough"));
}

TEST_F(AwaitStopTest, ReturnsAtOnceIfAlreadyStopped) {
  ctx_.Stop();
  EXPECT_EQ(AwaitStop(ctx_), Context::Canceled());
}

TEST_F(AwaitStopTest, EndsAtTheDeadline) {
  const Context limited = ctx_.WithTimeout(std::chrono::seconds(5));
  std::jthread advancer([&] { clock_.Advance(std::chrono::seconds(5)); });
  EXPECT_EQ(AwaitStop(limited), Context::DeadlineExceeded());
}

}  // namespace
}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#include "base/async.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/testing/test_clock.h"

namespace cox {
namespace {

using std::chrono::seconds;

TEST(CallAfterTest, CallsOnceAfterDelayOrWhenContextStops) {
  TestClock clock;
  Context ctx(clock);
  std::vector<Status> called;
  const auto note = [&](const Status& status) { called.push_back(status); };
  CallAfter(ctx, seconds(5), note);
  EXPECT_TRUE(called.empty());
  clock.Advance(seconds(5));
  ASSERT_EQ(called.size(), 1U);
  EXPECT_TRUE(called[0].ok());
  CallAfter(ctx, seconds(5), note);
  ctx.Stop(Status::Unavailable("end"));
  ASSERT_EQ(called.size(), 2U);
  EXPECT_EQ(called[1].message(), "end");
  clock.Advance(seconds(10));
  EXPECT_EQ(called.size(), 2U);
  CallAfter(ctx, seconds(5), note);  // it has stopped already
  ASSERT_EQ(called.size(), 3U);
  EXPECT_EQ(called[2].message(), "end");
}

TEST(PendingWorkTest, WaitsForAllTokens) {
  PendingWork pending;
  pending.Wait();
  PendingWork::Token first = pending.Begin();
  PendingWork::Token copy = first;
  PendingWork::Token second = pending.Begin();
  std::atomic<bool> waited = false;
  std::thread waiter([&] {
    pending.Wait();
    waited = true;
  });
  first.reset();
  second.reset();
  EXPECT_FALSE(waited);
  copy.reset();
  waiter.join();
  EXPECT_TRUE(waited);
}

}  // namespace
}  // namespace cox

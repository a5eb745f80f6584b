// SPDX-License-Identifier: Apache-2.0
#include "sdk/manager/runnable_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "base/testing/test_clock.h"

namespace cox::sdk {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class RunnableGroupTest : public testing::Test {
 protected:
  Status UntilStopped(Context& ctx) {
    MutexLock lock(mu);
    ++begun;
    changed.NotifyAll();
    (void)ctx.Await(mu, changed, [] { return false; });
    return ctx.status();
  }
  void WaitForBegun(int n) {
    MutexLock lock(mu);
    changed.Wait(mu, [&]() COX_REQUIRES(mu) { return begun >= n; });
  }
  Status WaitForError() {
    MutexLock lock(mu);
    changed.Wait(mu, [&]() COX_REQUIRES(mu) { return !error.ok(); });
    return error;
  }

  TestClock clock;
  Context ctx{clock};
  Mutex mu;
  CondVar changed;
  int begun COX_GUARDED_BY(mu) = 0;
  Status error COX_GUARDED_BY(mu);
  RunnableGroup group{"group", [this](Status why) {
                        MutexLock lock(mu);
                        error = std::move(why);
                        changed.NotifyAll();
                      }};
};

TEST_F(RunnableGroupTest, RunsRunnablesAddedBeforeAndAfterStart) {
  ASSERT_TRUE(group.Add("first", [&](Context& c) { return UntilStopped(c); }).ok());
  ASSERT_TRUE(group.Start(ctx).ok());
  WaitForBegun(1);
  ASSERT_TRUE(group.Add("second", [&](Context& c) { return UntilStopped(c); }).ok());
  WaitForBegun(2);
  EXPECT_TRUE(group.Stop(ctx).ok());
  MutexLock lock(mu);
  EXPECT_TRUE(error.ok()) << "whoever was asked to end did not fail: " << error.ToString();
  EXPECT_TRUE(group.Add("late", [](Context&) { return Status(); }).Is(Reason::kServiceUnavailable));
}

TEST_F(RunnableGroupTest, ReportsErrorsAndExceptionsWithTheName) {
  ASSERT_TRUE(group.Start(ctx).ok());
  ASSERT_TRUE(group.Add("weak", [](Context&) { return Status::Internal("broke"); }).ok());
  EXPECT_THAT(WaitForError().message(), HasSubstr("weak: broke"));
  {
    MutexLock lock(mu);
    error = {};
  }
  ASSERT_TRUE(
      group.Add("wild", [](Context&) -> Status { throw std::runtime_error("thrown"); }).ok());
  EXPECT_THAT(WaitForError().message(), HasSubstr("wild: an exception escaped: thrown"));
  EXPECT_TRUE(group.Stop(ctx).ok());
}

TEST_F(RunnableGroupTest, StopReportsRunnablesThatDoNotEnd) {
  Context released = ctx.Child();
  ASSERT_TRUE(group.Start(ctx).ok());
  ASSERT_TRUE(
      group.Add("stubborn", [this, released](Context&) mutable { return UntilStopped(released); })
          .ok());
  WaitForBegun(1);
  Context limit = ctx.WithTimeout(seconds(30));
  clock.Advance(seconds(30));
  EXPECT_THAT(group.Stop(limit).message(), HasSubstr("stubborn"));
  released.Stop();
}

}  // namespace
}  // namespace cox::sdk

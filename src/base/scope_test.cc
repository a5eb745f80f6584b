// SPDX-License-Identifier: Apache-2.0
#include "base/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>

#include "base/testing/test_clock.h"

namespace cox {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ScopeTest : public testing::Test {
 protected:
  static void UntilStopped(Context& ctx) { EXPECT_FALSE(ctx.Sleep(hours(1)).ok()); }

  TestClock clock_;
  Context root_{clock_};
};

TEST_F(ScopeTest, RunsTasksAndWaitsForThem) {
  std::atomic<int> ran = 0;
  Scope scope(root_, "test");
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(scope.Go("adder", [&](Context&) { ++ran; }).ok());
  }
  scope.Wait();
  EXPECT_EQ(ran, 5);
  EXPECT_THAT(scope.Running(), IsEmpty());
  EXPECT_FALSE(scope.done()) << "nobody asked it to end: more may start";
}

TEST_F(ScopeTest, StateIsAskedThenDrainingThenDone) {
  std::promise<void> stopping, proceed;
  Scope scope(root_, "test");
  ASSERT_TRUE(scope
                  .Go("worker",
                      [&](Context& ctx) {
                        UntilStopped(ctx);
                        stopping.set_value();
                        proceed.get_future().wait();
                      })
                  .ok());
  EXPECT_FALSE(scope.stop_requested());
  EXPECT_FALSE(scope.draining());
  scope.Stop();
  stopping.get_future().wait();
  EXPECT_TRUE(scope.stop_requested());
  EXPECT_TRUE(scope.draining());
  EXPECT_FALSE(scope.done());
  proceed.set_value();
  scope.Wait();
  EXPECT_FALSE(scope.draining());
  EXPECT_TRUE(scope.done());
}

TEST_F(ScopeTest, TaskReceivesTheStopReason) {
  Status seen;
  Scope scope(root_, "test");
  ASSERT_TRUE(scope.Go("worker", [&](Context& ctx) { seen = ctx.Sleep(hours(1)); }).ok());
  scope.Stop(Status::Conflict("lost the lease"));
  scope.Wait();
  EXPECT_EQ(seen, Status::Conflict("lost the lease"));
}

TEST_F(ScopeTest, StopOfParentContextStopsTheScope) {
  Scope scope(root_, "test");
  ASSERT_TRUE(scope.Go("worker", UntilStopped).ok());
  root_.Stop();
  scope.Wait();
  EXPECT_TRUE(scope.done());
}

TEST_F(ScopeTest, TaskStoppingItsOwnContextDoesNotStopTheScope) {
  Scope scope(root_, "test");
  ASSERT_TRUE(scope.Go("worker", [](Context& ctx) { ctx.Stop(); }).ok());
  scope.Wait();
  EXPECT_FALSE(scope.stop_requested());
}

TEST_F(ScopeTest, GoFailsAfterStop) {
  Scope scope(root_, "test");
  scope.Stop();
  const Status status = scope.Go("late", [](Context&) { FAIL(); });
  EXPECT_TRUE(status.Is(Reason::kServiceUnavailable));
  EXPECT_THAT(status.message(), HasSubstr("scope test is stopping"));
  EXPECT_TRUE(scope.done());
}

TEST_F(ScopeTest, TasksMayStartTasks) {
  std::atomic<int> ran = 0;
  Scope scope(root_, "test");
  ASSERT_TRUE(scope
                  .Go("outer",
                      [&](Context&) {
                        EXPECT_TRUE(scope.Go("inner", [&](Context&) { ++ran; }).ok());
                        ++ran;
                      })
                  .ok());
  scope.Wait();
  EXPECT_EQ(ran, 2);
}

TEST_F(ScopeTest, WaitWithLimitReportsRunningTasks) {
  std::promise<void> proceed;
  Scope scope(root_, "informers");
  ASSERT_TRUE(scope.Go("stubborn", [&](Context&) { proceed.get_future().wait(); }).ok());
  ASSERT_TRUE(scope.Go("polite", UntilStopped).ok());
  EXPECT_THAT(scope.Running(), ElementsAre("stubborn", "polite"));
  scope.Stop();
  Context limit = root_.WithTimeout(seconds(5));
  std::jthread advance([&] { clock_.Advance(seconds(5)); });
  const Status status = scope.Wait(limit);
  EXPECT_TRUE(status.Is(Reason::kTimeout));
  EXPECT_THAT(status.message(), HasSubstr("scope informers waits for stubborn"));
  proceed.set_value();
  EXPECT_TRUE(scope.Wait(root_).ok());
}

TEST_F(ScopeTest, DestructorWaitsForStoppedTasks) {
  std::atomic<bool> ended = false;
  {
    Scope scope(root_, "test");
    ASSERT_TRUE(scope
                    .Go("worker",
                        [&](Context& ctx) {
                          UntilStopped(ctx);
                          ended = true;
                        })
                    .ok());
    scope.Stop();
  }
  EXPECT_TRUE(ended);
}

TEST_F(ScopeTest, CapturesAreDestroyedBeforeTaskFinishes) {
  auto payload = std::make_shared<int>(1);
  Scope scope(root_, "test");
  ASSERT_TRUE(scope.Go("worker", [payload](Context&) {}).ok());
  scope.Wait();
  EXPECT_EQ(payload.use_count(), 1);
}

TEST_F(ScopeTest, ManyShortTasksFinish) {
  std::atomic<int> ran = 0;
  Scope scope(root_, "connections");
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(scope.Go("connection", [&](Context&) { ++ran; }).ok());
  }
  scope.Wait();
  EXPECT_EQ(ran, 300);
}

TEST_F(ScopeTest, ThreadHasTheTaskName) {
  std::array<char, 16> name{};
  Scope scope(root_, "test");
  ASSERT_TRUE(
      scope
          .Go("scheduler-worker-12",
              [&](Context&) { pthread_getname_np(pthread_self(), name.data(), name.size()); })
          .ok());
  scope.Wait();
  EXPECT_STREQ(name.data(), "schedul~rker-12");
}

TEST(ThreadName, IsShortenedToKernelLimit) {
  EXPECT_EQ(ThreadName(""), "");
  EXPECT_EQ(ThreadName("exactly15bytes."), "exactly15bytes.");
  EXPECT_EQ(ThreadName("exactly-16-bytes"), "exactly~6-bytes");
  EXPECT_EQ(ThreadName(std::string(1000, 'x')).size(), 15u);
}

using ScopeDeathTest = ScopeTest;

TEST_F(ScopeDeathTest, DestructionWithRunningTasksAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Scope scope(root_, "forgotten");
        (void)scope.Go("worker", UntilStopped);
      },
      "scope \"forgotten\" is destroyed while nobody asked its work to stop: worker");
}

TEST_F(ScopeDeathTest, WaitInOwnTaskAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Scope scope(root_, "circle");
        (void)scope.Go("worker", [&](Context&) { scope.Wait(); });
        scope.Wait();
      },
      "\"worker\" waits for its own scope \"circle\"");
}

}  // namespace
}  // namespace cox

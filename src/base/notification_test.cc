// SPDX-License-Identifier: Apache-2.0
#include "base/notification.h"

#include <gtest/gtest.h>

#include "base/scope.h"
#include "base/testing/test_clock.h"

namespace cox {
namespace {

constexpr std::chrono::hours kLong{1};

TEST(NotificationTest, AwaitReturnsAtOnceAfterAnEarlierNotification) {
  TestClock clock;
  Context ctx(clock);
  Notification notification;
  notification.Notify();
  notification.Notify();
  notification.Await(ctx, kLong);  // returns at once: the clock does not advance
  EXPECT_EQ(clock.Now(), TestClock::kStart);
}

TEST(NotificationTest, SeveralNotificationsWakeOnce) {
  TestClock clock;
  Context ctx(clock);
  Notification notification;
  notification.Notify();
  notification.Notify();
  notification.Await(ctx, kLong);
  Scope scope(ctx, "test");
  ASSERT_TRUE(scope.Go("waits", [&](Context& inner) { notification.Await(inner, kLong); }).ok());
  clock.WaitForTimers(1);  // it blocks: both notifications were consumed
  notification.Notify();
  scope.Wait();
}

TEST(NotificationTest, AwaitEndsOnTimeoutAndStop) {
  TestClock clock;
  Context ctx(clock);
  Notification notification;
  Scope scope(ctx, "test");
  ASSERT_TRUE(scope.Go("waits", [&](Context& inner) { notification.Await(inner, kLong); }).ok());
  clock.WaitForTimers(1);
  clock.Advance(kLong);
  scope.Wait();

  Scope stopped(ctx, "test");
  ASSERT_TRUE(stopped.Go("waits", [&](Context& inner) { notification.Await(inner, kLong); }).ok());
  clock.WaitForTimers(1);
  stopped.Stop();
  stopped.Wait();
}

}  // namespace
}  // namespace cox

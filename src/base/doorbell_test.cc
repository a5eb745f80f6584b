// SPDX-License-Identifier: Apache-2.0
#include "base/doorbell.h"

#include <gtest/gtest.h>

#include "base/scope.h"
#include "base/testing/test_clock.h"

namespace cox {
namespace {

constexpr std::chrono::hours kLong{1};

TEST(DoorbellTest, WhatRangBeforeIsNotWaitedFor) {
  TestClock clock;
  Context ctx(clock);
  Doorbell bell;
  bell.Ring();
  bell.Ring();
  bell.Await(ctx, kLong);  // returns at once: nobody moves the clock
  EXPECT_EQ(clock.Now(), TestClock::kStart);
}

TEST(DoorbellTest, OneLookAnswersAllRings) {
  TestClock clock;
  Context ctx(clock);
  Doorbell bell;
  bell.Ring();
  bell.Ring();
  bell.Await(ctx, kLong);
  Scope scope(ctx, "test");
  ASSERT_TRUE(scope.Go("waits", [&](Context& inner) { bell.Await(inner, kLong); }).ok());
  clock.WaitForTimers(1);  // the second ring was answered too
  bell.Ring();
  scope.Wait();
}

TEST(DoorbellTest, TheTimeEndsTheWaitAndSoDoesTheContext) {
  TestClock clock;
  Context ctx(clock);
  Doorbell bell;
  Scope scope(ctx, "test");
  ASSERT_TRUE(scope.Go("waits", [&](Context& inner) { bell.Await(inner, kLong); }).ok());
  clock.WaitForTimers(1);
  clock.Advance(kLong);
  scope.Wait();

  Scope stopped(ctx, "test");
  ASSERT_TRUE(stopped.Go("waits", [&](Context& inner) { bell.Await(inner, kLong); }).ok());
  clock.WaitForTimers(1);
  stopped.Stop();
  stopped.Wait();
}

}  // namespace
}  // namespace cox

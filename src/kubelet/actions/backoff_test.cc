// SPDX-License-Identifier: Apache-2.0
#include "kubelet/actions/backoff.h"

#include <gtest/gtest.h>

namespace cox::kubelet {
namespace {

using std::chrono::seconds;

TEST(BackoffTest, DoublesFromTenSecondsToFiveMinutes) {
  Backoff backoff;
  Clock::WallTime now(seconds(1'000'000));
  // The first failure is retried immediately.
  EXPECT_EQ(backoff.Remaining("c", now, now), seconds(0));
  for (const int want : {10, 20, 40, 80, 160, 300, 300}) {
    backoff.Began("c", now, now);
    now += seconds(1);  // fails after a second
    EXPECT_EQ(backoff.Remaining("c", now, now), seconds(want));
    EXPECT_EQ(backoff.Remaining("c", now, now + seconds(4)), seconds(want - 4));
    EXPECT_EQ(backoff.Remaining("c", now, now + seconds(want)), seconds(0));
    now += seconds(want);
  }
}

TEST(BackoffTest, ResetsAfterTenMinutesWithoutFailure) {
  Backoff backoff;
  Clock::WallTime now(seconds(1'000'000));
  for (int i = 0; i < 5; ++i) backoff.Began("c", now, now);
  const Clock::WallTime ended = now + seconds(601);
  EXPECT_EQ(backoff.Remaining("c", ended, ended), seconds(0));
  backoff.Began("c", ended, ended);
  EXPECT_EQ(backoff.Delay("c"), seconds(10));
  // Nine minutes are not enough.
  backoff.Began("c", ended + seconds(540), ended + seconds(540));
  EXPECT_EQ(backoff.Delay("c"), seconds(20));
}

TEST(BackoffTest, ClockSetBackDoesNotProlongDelay) {
  Backoff backoff;
  const Clock::WallTime now(seconds(1'000'000));
  backoff.Began("c", now, now);
  EXPECT_EQ(backoff.Remaining("c", now, now - seconds(3600)), seconds(10));
}

TEST(BackoffTest, KeysAreIndependent) {
  Backoff backoff;
  const Clock::WallTime now(seconds(1'000'000));
  backoff.Began("a", now, now);
  EXPECT_EQ(backoff.Remaining("b", now, now), seconds(0));
  backoff.Forget("a");
  EXPECT_EQ(backoff.Remaining("a", now, now), seconds(0));
}

}  // namespace
}  // namespace cox::kubelet

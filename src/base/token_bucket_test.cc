// SPDX-License-Identifier: Apache-2.0
#include "base/token_bucket.h"

#include <gtest/gtest.h>

#include "base/testing/test_clock.h"

namespace cox {
namespace {

using std::chrono::milliseconds;

TEST(TokenBucket, AllowsBurstThenRefillRate) {
  TestClock clock;
  TokenBucket bucket(/*per_second=*/10, /*burst=*/2);
  EXPECT_EQ(bucket.Take(clock.Monotonic()), Clock::Duration::zero());
  EXPECT_EQ(bucket.Take(clock.Monotonic()), Clock::Duration::zero());
  EXPECT_EQ(bucket.Take(clock.Monotonic()), milliseconds(100));
  clock.Advance(milliseconds(60));
  EXPECT_EQ(bucket.Take(clock.Monotonic()), milliseconds(40));
  clock.Advance(milliseconds(40));
  EXPECT_EQ(bucket.Take(clock.Monotonic()), Clock::Duration::zero());
}

TEST(TokenBucket, TokensAreLimitedToBurst) {
  TestClock clock;
  TokenBucket bucket(/*per_second=*/10, /*burst=*/2);
  EXPECT_EQ(bucket.Take(clock.Monotonic()), Clock::Duration::zero());
  clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(bucket.Take(clock.Monotonic()), Clock::Duration::zero());
  EXPECT_EQ(bucket.Take(clock.Monotonic()), Clock::Duration::zero());
  EXPECT_GT(bucket.Take(clock.Monotonic()), Clock::Duration::zero());
}

TEST(TokenBucket, ReserveReturnsDelayOfFutureTokens) {
  TestClock clock;
  TokenBucket bucket(/*per_second=*/10, /*burst=*/1);
  EXPECT_EQ(bucket.Reserve(clock.Monotonic()), milliseconds(0));
  EXPECT_EQ(bucket.Reserve(clock.Monotonic()), milliseconds(100));
  EXPECT_EQ(bucket.Reserve(clock.Monotonic()), milliseconds(200));
  clock.Advance(milliseconds(250));
  EXPECT_EQ(bucket.Reserve(clock.Monotonic()), milliseconds(50));
}

}  // namespace
}  // namespace cox

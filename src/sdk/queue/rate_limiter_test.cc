// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "coxswain/work_queue.h"

namespace cox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ObjectKey kA{"default", "a"};
const ObjectKey kB{"default", "b"};

TEST(ExponentialBackoffTest, DoublesPerKeyUpToTheMaximum) {
  const auto limiter = ExponentialBackoff(milliseconds(5), milliseconds(60));
  for (const int want : {5, 10, 20, 40, 60, 60}) {
    EXPECT_EQ(limiter->When(kA), milliseconds(want));
  }
  EXPECT_EQ(limiter->When(kB), milliseconds(5));
  EXPECT_EQ(limiter->Failures(kA), 6);
  limiter->Forget(kA);
  EXPECT_EQ(limiter->Failures(kA), 0);
  EXPECT_EQ(limiter->When(kA), milliseconds(5));
}

TEST(ExponentialBackoffTest, NeverOverflows) {
  const auto limiter = ExponentialBackoff();
  for (int i = 0; i < 200; ++i) EXPECT_LE(limiter->When(kA), seconds(1000));
  EXPECT_EQ(limiter->When(kA), seconds(1000));
}

TEST(OverallLimitTest, LaterKeysWaitLonger) {
  TestClock clock;
  const auto limiter = OverallLimit(clock, 10, 2);
  EXPECT_EQ(limiter->When(kA), milliseconds(0));
  EXPECT_EQ(limiter->When(kB), milliseconds(0));
  EXPECT_EQ(limiter->When(kA), milliseconds(100));
  EXPECT_EQ(limiter->When(kB), milliseconds(200));
  clock.Advance(seconds(10));
  EXPECT_EQ(limiter->When(kA), milliseconds(0));
}

TEST(DefaultRateLimiterTest, UsesTheLongerDelay) {
  TestClock clock;
  const auto limiter = DefaultRateLimiter(clock);
  EXPECT_EQ(limiter->When(kA), milliseconds(5));
  for (int i = 0; i < 99; ++i) (void)limiter->When({"default", std::to_string(i)});
  EXPECT_EQ(limiter->When(kB), milliseconds(100));
  EXPECT_EQ(limiter->Failures(kB), 1);
  limiter->Forget(kB);
  EXPECT_EQ(limiter->Failures(kB), 0);
}

}  // namespace
}  // namespace cox

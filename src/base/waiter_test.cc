// SPDX-License-Identifier: Apache-2.0
#include "base/waiter.h"

#include <gtest/gtest.h>

#include <thread>

namespace cox {
namespace {

TEST(Waiter, WakeBeforeBlockIsRemembered) {
  Waiter waiter;
  EXPECT_FALSE(waiter.woken());
  EXPECT_TRUE(waiter.Wake(WakeCause::kNotified));
  EXPECT_TRUE(waiter.woken());
  EXPECT_EQ(waiter.Block(Waiter::kNever), WakeCause::kNotified);
}

TEST(Waiter, FirstCauseWins) {
  Waiter waiter;
  EXPECT_TRUE(waiter.Wake(WakeCause::kStopped));
  EXPECT_FALSE(waiter.Wake(WakeCause::kNotified));
  EXPECT_EQ(waiter.Block(Waiter::kNever), WakeCause::kStopped);
}

TEST(Waiter, PastDeadlineTimesOut) {
  Waiter waiter;
  EXPECT_EQ(waiter.Block(Waiter::Deadline::min()), WakeCause::kTimeout);
  EXPECT_FALSE(waiter.Wake(WakeCause::kNotified)) << "it went on already";
}

TEST(Waiter, WakesAcrossThreads) {
  for (int i = 0; i < 100; ++i) {
    Waiter waiter;
    std::jthread waker([&] { waiter.Wake(WakeCause::kNotified); });
    EXPECT_EQ(waiter.Block(Waiter::kNever), WakeCause::kNotified);
  }
}

}  // namespace
}  // namespace cox

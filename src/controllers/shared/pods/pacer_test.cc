// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/pacer.h"

#include <gtest/gtest.h>

#include "base/testing/test_clock.h"

namespace cox::controllers::pods {
namespace {

using std::chrono::milliseconds;

TEST(PacerTest, LargeSetsWaitInProportionToSize) {
  TestClock clock;
  Pacer pacer(clock);
  const ObjectKey key{"default", "web"};
  EXPECT_EQ(pacer.WaitFor(key, 1), Clock::Duration::zero());
  pacer.Settled(key, 1, 3);
  EXPECT_EQ(pacer.WaitFor(key, 1), Clock::Duration::zero());
  pacer.Settled(key, 1, 100'000);
  EXPECT_EQ(pacer.WaitFor(key, 1), milliseconds(1000));
  pacer.Settled(key, 1, 200);
  EXPECT_EQ(pacer.WaitFor(key, 1), milliseconds(100));
  clock.Advance(milliseconds(60));
  EXPECT_EQ(pacer.WaitFor(key, 1), milliseconds(40));
  clock.Advance(milliseconds(60));
  EXPECT_EQ(pacer.WaitFor(key, 1), Clock::Duration::zero());
}

TEST(PacerTest, NewGenerationDoesNotWait) {
  TestClock clock;
  Pacer pacer(clock);
  const ObjectKey key{"default", "web"};
  pacer.Settled(key, 1, 1000);
  EXPECT_EQ(pacer.WaitFor(key, 2), Clock::Duration::zero());
  EXPECT_EQ(pacer.WaitFor({"default", "other"}, 1), Clock::Duration::zero());
  pacer.Forget(key);
  EXPECT_EQ(pacer.WaitFor(key, 1), Clock::Duration::zero());
}

}  // namespace
}  // namespace cox::controllers::pods

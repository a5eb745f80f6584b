// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/permits.h"

#include <gtest/gtest.h>

#include <string>

#include "simulate/pernode/backoff.h"

namespace cox::simulate {
namespace {

using std::chrono::seconds;

TEST(Permits, GrantInOrderOfRequests) {
  Permits permits(1);
  std::string granted;
  for (const char c : {'a', 'b', 'c'}) {
    permits.Acquire([&granted, c] {
      granted += c;
      return true;
    });
  }
  EXPECT_EQ(granted, "a");
  EXPECT_FALSE(permits.TryAcquire());
  permits.Release();
  EXPECT_EQ(granted, "ab");
  permits.Release();
  EXPECT_EQ(granted, "abc");
}

TEST(Permits, UnusedPermitIsPassedOn) {
  Permits permits(1);
  ASSERT_TRUE(permits.TryAcquire());
  bool granted = false;
  permits.Acquire([] { return false; });
  permits.Acquire([&] { return granted = true; });
  permits.Release();
  EXPECT_TRUE(granted);
  EXPECT_FALSE(permits.TryAcquire());
}

TEST(Permits, ReleaseInsideOfGrantServesTheNext) {
  Permits permits(1);
  int granted = 0;
  for (int i = 0; i < 1000; ++i) {
    permits.Acquire([&] {
      ++granted;
      permits.Release();
      return true;
    });
  }
  EXPECT_EQ(granted, 1000);
  EXPECT_TRUE(permits.TryAcquire());
}

TEST(Backoff, DoublesUpToItsLimitAndAddsJitter) {
  Backoff backoff(seconds(1), seconds(3));
  EXPECT_EQ(backoff.Next(0), seconds(1));
  EXPECT_EQ(backoff.Next(0.5), seconds(3));
  EXPECT_EQ(backoff.Next(0), seconds(3));
  backoff.Reset();
  EXPECT_EQ(backoff.Next(0), seconds(1));
}

}  // namespace
}  // namespace cox::simulate

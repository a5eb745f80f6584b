// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/requests.h"

#include <gtest/gtest.h>

namespace cox::sdk {
namespace {

using std::chrono::milliseconds;

TEST(TimeoutOfTest, ParsesTheQueryAndAppliesTheMaximum) {
  struct Case {
    const char* query;
    int64_t milliseconds;
  };
  for (const Case& test :
       {Case{"", 30'000}, Case{"timeout=10s", 10'000}, Case{"a=b&timeout=1.5s", 1'500},
        Case{"timeout=250ms", 250}, Case{"timeout=1m0s", 30'000}, Case{"timeout=0s", 30'000},
        Case{"timeout=", 30'000}, Case{"timeout=-5s", 30'000}, Case{"timeout=soon", 30'000},
        Case{"timeout=1", 30'000}, Case{"timeout=99999999999h", 30'000}, Case{"timeout=0.001ms", 1},
        Case{"timeout=1.5ms", 1}, Case{"timeout=1ns", 1},
        // Valid floating-point numbers that are not valid durations.
        Case{"timeout=nans", 30'000}, Case{"timeout=nan(1)s", 30'000}, Case{"timeout=infs", 30'000},
        Case{"timeout=-infs", 30'000}, Case{"timeout=1e9s", 30'000},
        // The limits of int64, and beyond.
        Case{"timeout=9223372036854775807ns", 30'000},
        Case{"timeout=9223372036854775808ns", 30'000},
        Case{"timeout=-9223372036854775808ns", 30'000},
        Case{"timeout=99999999999999999999999999s", 30'000}}) {
    EXPECT_EQ(TimeoutOf(test.query, milliseconds(30'000)).count(), test.milliseconds) << test.query;
  }
}

TEST(IsJsonTest, IgnoresParameters) {
  EXPECT_TRUE(IsJson("application/json"));
  EXPECT_TRUE(IsJson("application/json; charset=utf-8"));
  EXPECT_FALSE(IsJson("application/jsonp"));
  EXPECT_FALSE(IsJson(""));
}

}  // namespace
}  // namespace cox::sdk

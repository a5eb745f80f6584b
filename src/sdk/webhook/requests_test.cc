// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/requests.h"

#include <gtest/gtest.h>

namespace cox::sdk {
namespace {

using std::chrono::milliseconds;

TEST(ParseListenAddressTest, ReadsHostAndPort) {
  struct Case {
    const char* text;
    const char* host;  // null: refused
    uint16_t port;
  };
  for (const Case& test :
       {Case{":9443", "0.0.0.0", 9443}, Case{"127.0.0.1:0", "127.0.0.1", 0},
        Case{"[::1]:80", "::1", 80}, Case{"", nullptr, 0}, Case{"9443", nullptr, 0},
        Case{":", nullptr, 0}, Case{":70000", nullptr, 0}, Case{":80x", nullptr, 0},
        Case{"::1:80", nullptr, 0}}) {
    SCOPED_TRACE(test.text);
    const auto address = ParseListenAddress(test.text);
    ASSERT_EQ(address.ok(), test.host != nullptr);
    if (!address.ok()) continue;
    EXPECT_EQ(address->host, test.host);
    EXPECT_EQ(address->port, test.port);
  }
}

TEST(TimeoutOfTest, IsWhatTheQuerySaysButNoMoreThanTheMost) {
  struct Case {
    const char* query;
    int64_t milliseconds;
  };
  for (const Case& test :
       {Case{"", 30'000}, Case{"timeout=10s", 10'000}, Case{"a=b&timeout=1.5s", 1'500},
        Case{"timeout=250ms", 250}, Case{"timeout=1m0s", 30'000}, Case{"timeout=0s", 30'000},
        Case{"timeout=", 30'000}, Case{"timeout=-5s", 30'000}, Case{"timeout=soon", 30'000},
        Case{"timeout=1", 30'000}, Case{"timeout=99999999999h", 30'000},
        Case{"timeout=0.001ms", 1}}) {
    EXPECT_EQ(TimeoutOf(test.query, milliseconds(30'000)).count(), test.milliseconds) << test.query;
  }
}

TEST(IsJsonTest, LooksAtTheTypeOnly) {
  EXPECT_TRUE(IsJson("application/json"));
  EXPECT_TRUE(IsJson("application/json; charset=utf-8"));
  EXPECT_FALSE(IsJson("application/jsonp"));
  EXPECT_FALSE(IsJson(""));
}

}  // namespace
}  // namespace cox::sdk

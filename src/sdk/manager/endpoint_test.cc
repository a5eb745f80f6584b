// SPDX-License-Identifier: Apache-2.0
#include "sdk/manager/endpoint.h"

#include <gtest/gtest.h>

namespace cox::sdk {
namespace {

TEST(BindAddressTest, IsReadInAllWaysOfWritingIt) {
  const auto parsed = [](std::string_view text) { return **ParseBindAddress(text); };
  EXPECT_EQ(parsed(":8080"), (BindAddress{"", 8080}));
  EXPECT_EQ(parsed("127.0.0.1:0"), (BindAddress{"127.0.0.1", 0}));
  EXPECT_EQ(parsed("localhost:1"), (BindAddress{"127.0.0.1", 1}));
  EXPECT_EQ(parsed("[::1]:65535"), (BindAddress{"::1", 65535}));
  EXPECT_FALSE(ParseBindAddress("0")->has_value());
  EXPECT_FALSE(ParseBindAddress("")->has_value());
  for (const char* wrong : {"8080", "a:b", "::1:80", ":65536", ":-1", ":"}) {
    EXPECT_TRUE(ParseBindAddress(wrong).status().Is(Reason::kBadRequest)) << wrong;
  }
}

TEST(EndpointTest, ListensOnAnyPortAndSaysWhere) {
  RealClock clock;
  Context ctx(clock);
  const auto answer = [](Context&, const net::Request&) { return net::Response(); };
  const auto first = Endpoint::Start(ctx, "test", {"127.0.0.1", 0}, answer);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_NE((*first)->port(), 0);
  EXPECT_FALSE(Endpoint::Start(ctx, "test", {"127.0.0.1", (*first)->port()}, answer).ok());
  EXPECT_TRUE(Endpoint::Start(ctx, "test", {"", 0}, answer).ok());
}

}  // namespace
}  // namespace cox::sdk

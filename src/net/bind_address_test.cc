// SPDX-License-Identifier: Apache-2.0
#include "net/bind_address.h"

#include <gtest/gtest.h>

#include "net/client.h"

namespace cox::net {
namespace {

TEST(BindAddressTest, ParsesAllFormats) {
  const auto parsed = [](std::string_view text) { return **ParseBindAddress(text); };
  EXPECT_EQ(parsed(":8080"), (BindAddress{"", 8080}));
  EXPECT_EQ(parsed("127.0.0.1:0"), (BindAddress{"127.0.0.1", 0}));
  EXPECT_EQ(parsed("localhost:1"), (BindAddress{"127.0.0.1", 1}));
  EXPECT_EQ(parsed("[::1]:65535"), (BindAddress{"::1", 65535}));
  EXPECT_FALSE(ParseBindAddress("0")->has_value());
  EXPECT_FALSE(ParseBindAddress("")->has_value());
  for (const char* wrong : {"8080", "a:b", "::1:80", ":65536", ":-1", ":", ":80x"}) {
    EXPECT_TRUE(ParseBindAddress(wrong).status().Is(Reason::kBadRequest)) << wrong;
  }
}

class ListenOnTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Server>> Listen(const BindAddress& address) {
    return ListenOn(ctx_, address, {.loops = 1},
                    [](ExchangePtr exchange) { exchange->Send({.status = 204}); });
  }
  int CodeFrom(const std::string& host, uint16_t port) {
    ClientOptions options;
    options.host = host;
    options.port = port;
    options.http2 = false;
    options.tls = false;
    const auto client = Client::Create(ctx_, options);
    if (!client.ok()) return -1;
    Request request;
    request.method = "GET";
    request.target = "/";
    const auto response = (*client)->Do(ctx_, std::move(request));
    return response.ok() ? response->status : -1;
  }

  RealClock clock_;
  // Limits the duration of a failing test.
  Context ctx_ = Context(clock_).WithTimeout(std::chrono::seconds(60));
};

TEST_F(ListenOnTest, ListensOnAllAddressesWithoutHost) {
  const auto server = Listen({"", 0});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  EXPECT_EQ(CodeFrom("127.0.0.1", (*server)->port()), 204);
  // Fails over IPv6 if the host has no IPv6.
  const int by_ipv6 = Listen({"::1", 0}).ok() ? 204 : -1;
  EXPECT_EQ(CodeFrom("::1", (*server)->port()), by_ipv6);
}

TEST_F(ListenOnTest, ListensOnTheGivenAddressOnly) {
  const auto server = Listen({"127.0.0.1", 0});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  EXPECT_EQ(CodeFrom("127.0.0.1", (*server)->port()), 204);
  EXPECT_FALSE(Listen({"127.0.0.1", (*server)->port()}).ok());
  EXPECT_TRUE(Listen({"no-address", 0}).status().Is(Reason::kBadRequest));
}

}  // namespace
}  // namespace cox::net

// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/server_url.h"

#include <gtest/gtest.h>

namespace cox::storage {
namespace {

TEST(ServerUrl, ParsesValidUrlsAndRejectsInvalidOnes) {
  const struct {
    std::string_view url;
    net::grpc::Endpoint want;
    std::string_view authority;
  } kCases[] = {
      {"https://10.0.0.1:2379", {true, "10.0.0.1", 2379}, "10.0.0.1:2379"},
      {"http://etcd.example:80/", {false, "etcd.example", 80}, "etcd.example:80"},
      {"https://[fd00::1]:2380", {true, "fd00::1", 2380}, "[fd00::1]:2380"},
      {"https://[::1]", {true, "::1", 2379}, "[::1]:2379"},
      {"127.0.0.1:2379", {false, "127.0.0.1", 2379}, "127.0.0.1:2379"},
      {"http://localhost", {false, "localhost", 2379}, "localhost:2379"},
  };
  for (const auto& c : kCases) {
    const auto endpoint = ParseServerUrl(c.url);
    ASSERT_TRUE(endpoint.ok()) << endpoint.status().ToString();
    EXPECT_EQ(*endpoint, c.want) << c.url;
    EXPECT_EQ(endpoint->authority(), c.authority);
  }
  for (const std::string_view bad :
       {"", "http://", "ftp://a:1", "http://a:", "http://a:0", "http://a:65536", "http://a:x",
        "http://a:1/path", "http://[::1", "http://[::1]x", "http://[::1]:", "http://u@a:1"}) {
    EXPECT_TRUE(ParseServerUrl(bad).status().Is(Reason::kBadRequest)) << bad;
  }
}

}  // namespace
}  // namespace cox::storage

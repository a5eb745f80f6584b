// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/rpc/socket.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/etcd/rpc/exchange.h"

namespace cox::storage::rpc {
namespace {

TEST(Endpoint, IsParsed) {
  const struct {
    std::string_view url;
    Endpoint want;
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
    const auto endpoint = Endpoint::Parse(c.url);
    ASSERT_TRUE(endpoint.ok()) << endpoint.status().ToString();
    EXPECT_EQ(*endpoint, c.want) << c.url;
    EXPECT_EQ(endpoint->authority(), c.authority);
  }
  for (const std::string_view bad :
       {"", "http://", "ftp://a:1", "http://a:", "http://a:0", "http://a:65536", "http://a:x",
        "http://a:1/path", "http://[::1", "http://[::1]x", "http://[::1]:", "http://u@a:1"}) {
    EXPECT_TRUE(Endpoint::Parse(bad).status().Is(Reason::kBadRequest)) << bad;
  }
}

TEST(Assembler, FindsMessagesHoweverTheBytesAreCut) {
  const std::string bytes("\0\0\0\0\x03one\0\0\0\0\0\0\0\0\0\x05three", 5 + 3 + 5 + 5 + 5);
  for (size_t step = 1; step <= bytes.size(); ++step) {
    internal::Assembler assembler;
    std::vector<std::string> got;
    for (size_t at = 0; at < bytes.size(); at += step) {
      ASSERT_TRUE(assembler.Append(std::string_view(bytes).substr(at, step),
                                   [&got](std::string message) { got.push_back(message); }));
    }
    EXPECT_EQ(got, (std::vector<std::string>{"one", "", "three"})) << step;
    EXPECT_TRUE(assembler.empty());
  }
}

TEST(Assembler, RefusesCompressedMessages) {
  internal::Assembler assembler;
  EXPECT_FALSE(assembler.Append(std::string_view("\1\0\0\0\1x", 6), [](const std::string&) {}));
}

}  // namespace
}  // namespace cox::storage::rpc

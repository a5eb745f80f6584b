// SPDX-License-Identifier: Apache-2.0
#include "net/grpc/socket.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/grpc/exchange.h"

namespace cox::net::grpc {
namespace {

TEST(Endpoint, ParsesUnixSocketUrls) {
  EXPECT_EQ(Endpoint::Unix("unix:///run/a.sock")->unix_path, "/run/a.sock");
  EXPECT_EQ(Endpoint::Unix("unix:///@name")->unix_path, "@name");
  EXPECT_EQ(Endpoint::Unix("unix://@name")->unix_path, "@name");
  EXPECT_EQ(Endpoint::Unix("unix:///run/a.sock")->authority(), "localhost");
  for (const std::string& bad : {std::string("/run/a.sock"), std::string("unix://a"),
                                 std::string("unix:///"), "unix:///" + std::string(107, 'x')}) {
    EXPECT_TRUE(Endpoint::Unix(bad).status().Is(Reason::kBadRequest)) << bad;
  }
}

TEST(Assembler, AssemblesMessagesFromAnyFragmentation) {
  const std::string bytes("\0\0\0\0\x03one\0\0\0\0\0\0\0\0\0\x05three", 5 + 3 + 5 + 5 + 5);
  for (size_t step = 1; step <= bytes.size(); ++step) {
    internal::Assembler assembler(5);
    std::vector<std::string> got;
    for (size_t at = 0; at < bytes.size(); at += step) {
      ASSERT_TRUE(assembler.Append(std::string_view(bytes).substr(at, step),
                                   [&got](std::string message) { got.push_back(message); }));
    }
    EXPECT_EQ(got, (std::vector<std::string>{"one", "", "three"})) << step;
    EXPECT_TRUE(assembler.empty());
  }
}

TEST(Assembler, RejectsCompressedMessages) {
  internal::Assembler assembler(5);
  EXPECT_FALSE(assembler.Append(std::string_view("\1\0\0\0\1x", 6), [](const std::string&) {}));
}

TEST(Assembler, RejectsMessagesThatAreTooLarge) {
  for (const char* prefix : {"\0\0\0\0\6", "\0\0\1\0\0", "\0\xff\xff\xff\xff"}) {
    internal::Assembler assembler(5);
    EXPECT_FALSE(assembler.Append(std::string_view(prefix, 5), [](const std::string&) {}));
  }
}

}  // namespace
}  // namespace cox::net::grpc

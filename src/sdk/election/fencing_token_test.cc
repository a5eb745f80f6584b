// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "coxswain/fencing.h"

namespace cox {
namespace {

TEST(FencingTokenTest, ToStringAndParseRoundTrip) {
  for (const std::string holder : {"a", "host_1f", "a;b;3", "a/b"}) {
    const FencingToken token{.lease = {"kube-system", "x"}, .holder = holder, .transitions = 7};
    EXPECT_EQ(token.ToString(), "kube-system/x;" + holder + ";7");
    const Result<FencingToken> read = FencingToken::Parse(token.ToString());
    ASSERT_TRUE(read.ok()) << token.ToString();
    EXPECT_EQ(*read, token);
  }
}

TEST(FencingTokenTest, MalformedTokenIsABadRequest) {
  for (const std::string& text :
       {std::string(), std::string("ns/l"), std::string("ns/l;3"), std::string("ns/l;;3"),
        std::string("l;a;3"), std::string("/l;a;3"), std::string("ns/;a;3"), std::string("ns/l;a;"),
        std::string("ns/l;a;-1"), std::string("ns/l;a;3x"), std::string("ns/l;a;2147483648"),
        std::string("ns/l;a b;3"), std::string("ns/l;\x80;3"), std::string("ns/l;a\n;3"),
        std::string("n/s/l;a;3"), "ns/l;" + std::string(2000, 'a') + ";3"}) {
    EXPECT_TRUE(FencingToken::Parse(text).status().Is(Reason::kBadRequest)) << text;
  }
}

TEST(FencingTokenTest, IsDeposedDistinguishesOtherConflicts) {
  EXPECT_TRUE(IsDeposed(DeposedStatus(Reason::kConflict, "over")));
  EXPECT_TRUE(IsDeposed(DeposedStatus(Reason::kForbidden, "over")));
  EXPECT_FALSE(IsDeposed(Status::Conflict("the object has been modified")));
  EXPECT_FALSE(IsDeposed(Status()));
}

}  // namespace
}  // namespace cox

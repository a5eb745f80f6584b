// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/client/loopback_tokens.h"

#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

net::Request With(const std::string& token) {
  return {.method = "GET",
          .target = "/api",
          .headers = {{"authorization", "Bearer " + token}},
          .peer = nullptr};
}

TEST(LoopbackTokensTest, TokenAuthenticatesItsUser) {
  LoopbackTokens tokens;
  const Secret<std::string> jane = tokens.Add({.name = "jane", .groups = {"dev"}});
  const Secret<std::string> other = tokens.Add({.name = "other"});
  EXPECT_NE(jane.Reveal(), other.Reveal());
  EXPECT_GE(jane.Reveal().size(), 43U);  // 256 bits
  ASSERT_TRUE(tokens.Find(jane.Reveal()));
  EXPECT_EQ(tokens.Find(jane.Reveal())->name, "jane");
  EXPECT_EQ(tokens.Find(other.Reveal())->name, "other");
  EXPECT_FALSE(tokens.Find(""));
  EXPECT_FALSE(tokens.Find(jane.Reveal() + "x"));
  EXPECT_FALSE(tokens.Find(jane.Reveal().substr(1)));

  tokens.Remove(jane);
  EXPECT_FALSE(tokens.Find(jane.Reveal()));
  EXPECT_TRUE(tokens.Find(other.Reveal()));
  tokens.Remove(other);
  EXPECT_FALSE(tokens.Find(other.Reveal()));
}

TEST(LoopbackTokensTest, AuthenticateLikeAnyOtherToken) {
  LoopbackTokens tokens;
  const Secret<std::string> jane = tokens.Add({.name = "jane", .groups = {"dev"}});
  std::vector<std::unique_ptr<const AuthMethod>> methods;
  methods.push_back(NewLoopbackTokenMethod(tokens));
  const Authenticator authenticator(std::move(methods), /*anonymous=*/true);
  const Result<UserInfo> user = authenticator.Authenticate(With(jane.Reveal()));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->name, "jane");
  EXPECT_TRUE(user->InGroup("dev"));
  EXPECT_TRUE(user->InGroup(kAuthenticatedGroup));
  // An unknown token does not result in an anonymous user.
  EXPECT_TRUE(authenticator.Authenticate(With("made-up")).status().Is(Reason::kUnauthorized));
}

}  // namespace
}  // namespace cox::apiserver

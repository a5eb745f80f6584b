// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/token_file.h"
#include "base/testing/test_clock.h"

namespace cox::apiserver {
namespace {

std::vector<std::unique_ptr<const AuthMethod>> Methods() {
  std::vector<std::unique_ptr<const AuthMethod>> methods;
  methods.push_back(std::move(*NewTokenFileMethod("secret,alice,1,\"dev,ops\"\n")));
  return methods;
}

net::Request With(std::string header) {
  net::Request request;
  request.headers.Add("authorization", std::move(header));
  return request;
}

TEST(BearerTokenTest, ParsesAuthorizationHeaderLikeUpstream) {
  const Authenticator authenticator(Methods(), /*anonymous=*/true);
  const struct {
    std::string header, user;
    bool warned;
  } kCases[] = {
      {"Bearer secret", "alice", false},
      {"bearer secret", "alice", false},
      {"BEARER secret  ", "alice", false},
      {"Bearer secret and more", "alice", false},
      {"Bearer  secret", "system:anonymous", true},
      {"Bearer", "system:anonymous", false},
      {"Bearer ", "system:anonymous", false},
      {"Basic c2VjcmV0", "system:anonymous", false},
      {"Token secret", "system:anonymous", false},
      {"secret", "system:anonymous", false},
      {"", "system:anonymous", false},
      {"Bearer unknown", "Unauthorized", false},
      {"Bearer Secret", "Unauthorized", false},
  };
  for (const auto& c : kCases) {
    const net::Request request = With(c.header);
    const Result<UserInfo> user = authenticator.Authenticate(request);
    EXPECT_EQ(user.ok() ? user->name : user.status().message(), c.user) << c.header;
    EXPECT_EQ(!BearerTokenWarning(request).empty(), c.warned) << c.header;
  }
}

TEST(BearerTokenTest, TokensWithoutAudienceAreForApi) {
  TestClock clock;
  const Context ctx(clock);
  const Authenticator authenticator(Methods(), true, {"api", "api2"});
  const struct {
    std::vector<std::string> asked, told;
    bool authenticated;
  } kCases[] = {
      {{}, {"api", "api2"}, true},
      {{"x", "api2"}, {"api2"}, true},
      {{"x"}, {}, false},
  };
  for (const auto& c : kCases) {
    const Authenticator::TokenReviewResult verdict =
        authenticator.ReviewToken(ctx, "secret", c.asked);
    EXPECT_EQ(verdict.authenticated, c.authenticated);
    EXPECT_EQ(verdict.audiences, c.told);
    EXPECT_EQ(verdict.error, c.authenticated ? "" : "invalid bearer token");
    EXPECT_EQ(verdict.user.name, c.authenticated ? "alice" : "");
  }
  EXPECT_EQ(authenticator.ReviewToken(ctx, "nope", {}).error, "invalid bearer token");
}

// Rejects every token.
class Refuses final : public AuthMethod {
 public:
  Result<std::optional<TokenIdentity>> TryToken(std::string_view,
                                                std::span<const std::string>) const override {
    return Status(Reason::kUnauthorized, "it is too old");
  }
};

TEST(BearerTokenTest, RejectionReasonIsOnlyInTokenReview) {
  TestClock clock;
  const Context ctx(clock);
  std::vector<std::unique_ptr<const AuthMethod>> methods;
  methods.push_back(std::make_unique<Refuses>());
  const Authenticator authenticator(std::move(methods), true, {"api"});
  EXPECT_EQ(authenticator.ReviewToken(ctx, "x", {}).error, "[invalid bearer token, it is too old]");
  EXPECT_EQ(authenticator.Authenticate(With("Bearer x")).status().message(), "Unauthorized");
}

// Accepts every token, but only in AwaitToken.
class Asks final : public AuthMethod {
 public:
  TokenResult TryToken(std::string_view, std::span<const std::string>) const override {
    return WouldWait();
  }
  TokenResult AwaitToken(const Context&, std::string_view token,
                         std::span<const std::string>) const override {
    return std::optional(TokenIdentity{.user = {.name = "asked-" + std::string(token)}});
  }
};

TEST(BearerTokenTest, BlockingMethodIsAwaitedOnlyIfNoOtherMethodAcceptsToken) {
  TestClock clock;
  const Context ctx(clock);
  std::vector<std::unique_ptr<const AuthMethod>> methods;
  methods.push_back(std::make_unique<Asks>());
  methods.push_back(std::move(*NewTokenFileMethod("secret,alice,1\n")));
  const Authenticator authenticator(std::move(methods), true);
  EXPECT_EQ(authenticator.Authenticate(With("Bearer secret"))->name, "alice");
  const Result<UserInfo> waits = authenticator.Authenticate(With("Bearer other"));
  ASSERT_FALSE(waits.ok());
  EXPECT_TRUE(AuthMethod::IsWouldWait(waits.status()));
  EXPECT_EQ(authenticator.Await(ctx, With("Bearer other"))->name, "asked-other");
  // A request without a token need not wait.
  EXPECT_EQ(authenticator.Authenticate(net::Request())->name, "system:anonymous");
}

}  // namespace
}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/payload/tokens.h"

#include <gtest/gtest.h>

#include "api/authentication/v1.h"
#include "base/testing/test_clock.h"
#include "kubelet/testing/test_pods.h"
#include "sdk/testing/function_client.h"

namespace cox::kubelet {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::MakePod;

// A server that issues numbered tokens.
class TokenServer final : public sdk::FunctionClient {
 public:
  explicit TokenServer(Clock& clock) : clock_(clock) {}
  Result<Object> Execute(Context&, const Operation& operation) override {
    ++calls;
    last = operation.key.ToString() + "/" + operation.subresource;
    if (!fail.ok()) return fail;
    authentication::v1::TokenRequest request =
        *operation.body->As<authentication::v1::TokenRequest>();
    bound = request.spec.boundObjectRef ? request.spec.boundObjectRef->uid : "";
    request.status.token = "t" + std::to_string(calls);
    const auto end = clock_.Now() + std::chrono::seconds(*request.spec.expirationSeconds);
    request.status.expirationTimestamp =
        Time::FromUnix(std::chrono::floor<std::chrono::seconds>(end.time_since_epoch()).count());
    return Object::Of(request);
  }

  int calls = 0;
  Status fail;
  std::string last;
  std::string bound;

 private:
  Clock& clock_;
};

TEST(TokensTest, RefreshTimes) {
  const Clock::WallTime now = TestClock::kStart;
  EXPECT_EQ(RefreshTime(now, now + minutes(10)), now + minutes(8));
  EXPECT_EQ(RefreshTime(now, now + hours(1000)), now + hours(24));
  EXPECT_EQ(RefreshTime(now, now - hours(1)), now);
}

TEST(TokensTest, TokensAreCachedUntilRefreshTime) {
  TestClock clock;
  Context ctx(clock);
  TokenServer server(clock);
  Tokens tokens(server);
  const auto pod = MakePod(R"({"serviceAccountName":"sa"})");
  EXPECT_EQ(tokens.Get(ctx, pod, "", 3600)->token, "t1");
  EXPECT_EQ(server.bound, "u1");
  EXPECT_EQ(server.last, "default/sa/token");
  EXPECT_EQ(tokens.Get(ctx, pod, "", 3600)->token, "t1");
  EXPECT_EQ(tokens.Get(ctx, pod, "other", 3600)->token, "t2");
  clock.Advance(minutes(47));
  EXPECT_EQ(tokens.Get(ctx, pod, "", 3600)->token, "t1");
  clock.Advance(minutes(1));
  EXPECT_EQ(tokens.Get(ctx, pod, "", 3600)->token, "t3");
  tokens.Forget("u1");
  EXPECT_EQ(tokens.Get(ctx, pod, "", 3600)->token, "t4");
}

TEST(TokensTest, OldTokenIsUsedWhileValidIfRenewalFails) {
  TestClock clock;
  Context ctx(clock);
  TokenServer server(clock);
  Tokens tokens(server);
  const auto pod = MakePod("{}");
  ASSERT_TRUE(tokens.Get(ctx, pod, "", 3600).ok());
  server.fail = Status::Unavailable("away");
  clock.Advance(minutes(50));
  const auto again = tokens.Get(ctx, pod, "", 3600);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->token, "t1");
  EXPECT_EQ(again->refresh, clock.Now() + minutes(1));
  clock.Advance(minutes(10));
  EXPECT_FALSE(tokens.Get(ctx, pod, "", 3600).ok());
}

}  // namespace
}  // namespace cox::kubelet

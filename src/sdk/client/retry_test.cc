// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/retry.h"

#include <gtest/gtest.h>

#include <thread>

#include "api/core/v1.h"
#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "coxswain/client.h"
#include "net/client/not_sent.h"
#include "sdk/testing/fake_transport.h"

namespace cox::sdk {
namespace {

using core::v1::ConfigMap;
using std::chrono::seconds;

const Status kBroke = Status::Unavailable("connection reset");
const Status kNotSent = net::MarkNotSent(Status::Unavailable("connection refused"));

FakeResponse Answer(int code, std::string retry_after = "") {
  FakeResponse answer = FakeResponse::Json(
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"web","namespace":"d"}})", code);
  if (!retry_after.empty()) answer.headers.Add("retry-after", std::move(retry_after));
  return answer;
}

struct Case {
  std::string name;
  FakeResponse first;
  bool read_repeated = false;
  bool write_repeated = false;
};

// Calls Get or Create on another thread while the clock advances.
class RetryTest : public testing::Test {
 protected:
  Status Call(FakeTransport& transport, bool read, const Config& config = {}) {
    const std::shared_ptr<Transport> shared(&transport, [](Transport*) {});
    const std::unique_ptr<Client> client = MakeClient(shared, config);
    Status result;
    Scope scope(ctx_, "call");
    Mutex mu;
    bool done = false;
    EXPECT_TRUE(scope
                    .Go("call",
                        [&](Context& ctx) {
                          const Status status =
                              read ? client->Get<ConfigMap>(ctx, {"d", "web"}).status()
                                   : client
                                         ->Create(ctx, ConfigMap{.metadata = {.name = "web",
                                                                              .namespace_ = "d"}})
                                         .status();
                          const MutexLock lock(mu);
                          result = status;
                          done = true;
                        })
                    .ok());
    while (true) {
      {
        const MutexLock lock(mu);
        if (done) break;
      }
      // The call waits for this clock or is about to return.
      if (clock_.waiters() > 0) clock_.Advance(seconds(1));
      std::this_thread::yield();
    }
    scope.Stop();
    scope.Wait();
    return result;
  }

  TestClock clock_;
  Context ctx_{clock_};
};

TEST_F(RetryTest, RetriesOnlyRequestsThatWereNotExecuted) {
  const std::vector<Case> cases = {
      {"429 with a wait", Answer(429, "1"), true, true},
      {"503 with a wait", Answer(503, "1"), true, true},
      {"500 with a wait", Answer(500, "2"), true, true},
      {"429 at once", Answer(429, "0"), true, true},
      {"429 without", Answer(429), false, false},
      {"503 without", Answer(503), false, false},
      {"500 without", Answer(500), false, false},
      {"409 with a wait", Answer(409, "1"), false, false},
      {"429 with a date", Answer(429, "Wed, 21 Oct 2015 07:28:00 GMT"), false, false},
      {"not sent", FakeResponse::Fail(kNotSent), true, true},
      {"broke", FakeResponse::Fail(kBroke), true, false},
      {"another failure", FakeResponse::Fail(Status::BadRequest("certificate")), false, false},
  };
  for (const Case& c : cases) {
    for (const bool read : {true, false}) {
      FakeTransport transport(std::vector<FakeResponse>{c.first, Answer(200)});
      const Status status = Call(transport, read);
      const bool repeated = read ? c.read_repeated : c.write_repeated;
      EXPECT_EQ(transport.requests().size(), repeated ? 2u : 1u) << c.name << read;
      EXPECT_EQ(status.ok(), repeated) << c.name << status.ToString();
      if (repeated) {
        EXPECT_EQ(transport.requests()[1].body, transport.requests()[0].body);
        EXPECT_EQ(transport.requests()[1].target, transport.requests()[0].target);
      }
    }
  }
}

TEST_F(RetryTest, RequestThatIsSentOnceIsNotRetried) {
  FakeTransport transport(std::vector<FakeResponse>{Answer(429, "1"), Answer(200)});
  const std::unique_ptr<Client> client =
      MakeClient(std::shared_ptr<Transport>(&transport, [](Transport*) {}));
  const Resource resource = Resource::Of<ConfigMap>();
  const Object body = Object::Of(ConfigMap{.metadata = {.name = "web", .namespace_ = "d"}});
  const WriteOptions options;
  const Status status = client
                            ->Execute(ctx_, {.verb = Operation::Verb::kCreate,
                                             .resource = resource,
                                             .key = {"d", "web"},
                                             .body = &body,
                                             .write = &options,
                                             .headers = {{std::string(kSendOnce), "true"}}})
                            .status();
  EXPECT_TRUE(status.Is(Reason::kTooManyRequests)) << status.ToString();
  EXPECT_EQ(status.details().retry_after_seconds, 1);
  ASSERT_EQ(transport.requests().size(), 1u);
  EXPECT_FALSE(transport.requests()[0].headers.Get(kSendOnce).has_value());
}

TEST_F(RetryTest, ReturnsTheLastErrorWhenTheBudgetIsUsedUp) {
  FakeTransport transport(std::vector<FakeResponse>{Answer(429, "7")});
  const Status status = Call(transport, true, {.retry_for = seconds(30)});
  EXPECT_TRUE(status.Is(Reason::kTooManyRequests)) << status.ToString();
  EXPECT_EQ(status.details().retry_after_seconds, 7);
  // Delays of 7 to 8.4 s: three or four fit.
  EXPECT_GE(transport.requests().size(), 4u);
  EXPECT_LE(transport.requests().size(), 5u);

  FakeTransport refused(std::vector<FakeResponse>{FakeResponse::Fail(kNotSent)});
  EXPECT_TRUE(Call(refused, false, {.retry_for = seconds(30)}).Is(Reason::kServiceUnavailable));
  EXPECT_GE(refused.requests().size(), 8u);
  EXPECT_LE(refused.requests().size(), 14u) << "the wait doubles";

  FakeTransport never(std::vector<FakeResponse>{Answer(429, "1")});
  EXPECT_FALSE(Call(never, true, {.retry_for = std::chrono::milliseconds(0)}).ok());
  EXPECT_EQ(never.requests().size(), 1u);
}

TEST_F(RetryTest, JitterAddsAtMostTwentyPercent) {
  for (int i = 0; i < 100; ++i) {
    Retry retry(ctx_, seconds(60), true);
    const auto wait = retry.DelayAfterResponse(429, {{"retry-after", "10"}});
    ASSERT_TRUE(wait);
    EXPECT_GE(*wait, seconds(10));
    EXPECT_LE(*wait, seconds(12));
  }
}

TEST_F(RetryTest, DoesNotRetryPastTheDeadline) {
  const Context soon = ctx_.WithTimeout(seconds(5));
  Retry retry(soon, seconds(60), true);
  EXPECT_FALSE(retry.DelayAfterResponse(429, {{"retry-after", "5"}}));
  EXPECT_TRUE(retry.DelayAfterResponse(429, {{"retry-after", "2"}}));
}

TEST_F(RetryTest, StoppedContextInterruptsTheDelay) {
  FakeTransport transport(std::vector<FakeResponse>{Answer(429, "20")});
  const auto shared = std::shared_ptr<Transport>(&transport, [](Transport*) {});
  const std::unique_ptr<Client> client = MakeClient(shared);
  Status result;
  Scope scope(ctx_, "call");
  ASSERT_TRUE(scope
                  .Go("call",
                      [&](Context& ctx) {
                        result = client->Get<ConfigMap>(ctx, {"d", "web"}).status();
                      })
                  .ok());
  clock_.WaitForWaiters(1);
  scope.Stop();
  scope.Wait();
  EXPECT_EQ(result, Context::Canceled());
}

}  // namespace
}  // namespace cox::sdk

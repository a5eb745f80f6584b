// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/client/local_calls.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "apiserver/testing/call_harness.h"
#include "base/testing/test_clock.h"

namespace cox::apiserver {
namespace {

// Yields "x" on every Pull, and records its destruction.
class TestSource final : public net::BodySource {
 public:
  explicit TestSource(bool& gone) : gone_(gone) {}
  ~TestSource() override { gone_ = true; }
  State Pull(size_t, std::vector<Bytes>* out) override {
    out->push_back(Bytes::Static("x"));
    return State::kWait;
  }

 private:
  bool& gone_;
};

class LocalCallsTest : public ::testing::Test {
 protected:
  std::shared_ptr<FakeExchange> Send() {
    auto exchange =
        std::make_shared<FakeExchange>(clock_, net::Request{.method = "GET", .target = "/"});
    calls_->handler()(exchange);
    return exchange;
  }

  TestClock clock_;
  Context server_{clock_};
  net::ExchangePtr taken_;
  std::optional<LocalCalls> calls_{
      std::in_place, server_, [this](net::ExchangePtr exchange) { taken_ = std::move(exchange); }};
};

TEST_F(LocalCallsTest, RequestsAreServedAndAnswered) {
  const auto caller = Send();
  ASSERT_NE(taken_, nullptr);
  EXPECT_EQ(taken_->request().method, "GET");
  taken_->Send({.status = 201, .headers = {}, .body = {}});
  taken_.reset();
  EXPECT_EQ(caller->status(), 201);
}

TEST_F(LocalCallsTest, ContextStopsWithCallerAndWithServer) {
  auto caller = Send();
  Context ctx = taken_->context();
  EXPECT_FALSE(ctx.Done());
  caller->context().Stop(Status::Timeout("enough"));
  EXPECT_EQ(ctx.status().message(), "enough");

  caller = Send();
  ctx = taken_->context();
  server_.Stop();
  EXPECT_TRUE(ctx.Done());
  EXPECT_FALSE(caller->context().Done());
}

TEST_F(LocalCallsTest, DroppedRequestGets503) {
  const auto caller = Send();
  taken_.reset();
  EXPECT_EQ(caller->status(), 503);
  EXPECT_NE(caller->Body().find("\"reason\":\"ServiceUnavailable\""), std::string::npos);
}

// A caller that supports WebSocket upgrades.
class UpgradableExchange final : public net::Exchange {
 public:
  explicit UpgradableExchange(Clock& clock) : context_(clock) {}
  net::Request& request() override { return request_; }
  Context& context() override { return context_; }
  void Send(net::Response) override { ADD_FAILURE() << "it was answered by becoming a socket"; }
  std::shared_ptr<net::Waker> Stream(int, net::Headers, std::unique_ptr<net::BodySource>) override {
    return nullptr;
  }
  Result<std::unique_ptr<net::WebSocket>> Upgrade(const std::vector<std::string>& protocols,
                                                  const net::WebSocketOptions&) override {
    auto [near, far] = net::MakeWebSocketPair(protocols.at(0));
    mine = std::move(near);
    return std::move(far);
  }
  std::unique_ptr<net::WebSocket> mine;

 private:
  Context context_;
  net::Request request_;
};

TEST_F(LocalCallsTest, UpgradeCountsAsResponse) {
  auto caller = std::make_shared<UpgradableExchange>(clock_);
  calls_->handler()(caller);
  auto socket = taken_->Upgrade({"v5"}, {});
  ASSERT_TRUE(socket.ok());
  EXPECT_EQ((*socket)->protocol(), "v5");
  EXPECT_NE(caller->mine, nullptr);
  EXPECT_TRUE(calls_->Drain(server_).ok()) << "nobody waits for sockets";
  taken_.reset();
}

TEST_F(LocalCallsTest, DrainWaitsForResponsesButNotForStreams) {
  bool gone = false;
  const auto streaming = Send();
  (void)taken_->Stream(200, {}, std::make_unique<TestSource>(gone));
  const auto waiting = Send();
  const net::ExchangePtr unanswered = std::move(taken_);
  Context limit = server_.Child();
  std::thread drain([&] { EXPECT_TRUE(calls_->Drain(limit).ok()); });
  while (Send()->status() != 503) taken_.reset();  // until new requests are rejected
  EXPECT_EQ(waiting->status(), 0);
  unanswered->Send({.status = 200, .headers = {}, .body = {}});
  drain.join();
  EXPECT_EQ(waiting->status(), 200);
  EXPECT_EQ(streaming->Pull(), "x");
}

TEST_F(LocalCallsTest, StopEndsStreamsAndDestroysSources) {
  const auto caller = Send();
  bool gone = false;
  (void)taken_->Stream(200, {}, std::make_unique<TestSource>(gone));
  taken_.reset();
  EXPECT_EQ(caller->Pull(), "x");
  calls_->Stop();
  EXPECT_TRUE(gone);
  EXPECT_EQ(caller->Pull(), "<end>");
}

TEST_F(LocalCallsTest, StreamAfterStopIsEmpty) {
  const auto caller = Send();
  calls_->Stop();
  bool gone = false;
  (void)taken_->Stream(200, {}, std::make_unique<TestSource>(gone));
  EXPECT_TRUE(gone);
  EXPECT_EQ(caller->Pull(), "<end>");
}

TEST_F(LocalCallsTest, DisconnectedCallerDestroysSource) {
  const auto caller = Send();
  bool gone = false;
  (void)taken_->Stream(200, {}, std::make_unique<TestSource>(gone));
  taken_.reset();
  caller->Close();
  EXPECT_TRUE(gone);
}

TEST_F(LocalCallsTest, HandlerOutlivesServer) {
  const net::Handler handler = calls_->handler();
  calls_.reset();
  auto caller =
      std::make_shared<FakeExchange>(clock_, net::Request{.method = "GET", .target = "/"});
  handler(caller);
  EXPECT_EQ(caller->status(), 503);
  EXPECT_EQ(caller->Header("retry-after"), "1");
  EXPECT_EQ(taken_, nullptr);
}

}  // namespace
}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include "net/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/mutex.h"
#include "net/testing/hostile_server.h"
#include "net/testing/loopback.h"

namespace cox::net {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A result that arrives on another thread.
template <class T>
class Later {
 public:
  std::function<void(T)> Set() {
    return [this](T value) {
      MutexLock lock(mu_);
      EXPECT_FALSE(value_.has_value()) << "called twice";
      value_ = std::move(value);
      changed_.NotifyAll();
    };
  }
  T Wait() {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this]() COX_REQUIRES(mu_) { return value_.has_value(); });
    return *value_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::optional<T> value_ COX_GUARDED_BY(mu_);
};

class FetchTest : public testing::Test {
 protected:
  ~FetchTest() override { StopEventLoop(*loop_); }

  Result<Fetched> Get(const Context& ctx, ClientOptions options) {
    options.loop = loop_;
    Later<Result<Fetched>> later;
    Fetch(ctx, std::move(options), {.method = "GET", .target = "/"}, later.Set());
    return later.Wait();
  }
  Status Connect(const Context& ctx, const std::string& host, uint16_t port) {
    Later<Status> later;
    TryConnect(ctx, loop_, host, port, later.Set());
    return later.Wait();
  }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(60s);
  const std::shared_ptr<EventLoop> loop_ = *StartEventLoop(ctx_, "test");
};

TEST_F(FetchTest, ReturnsResponseWithLimitedBody) {
  Loopback server([](const ExchangePtr& exchange) {
    exchange->Send(
        {.status = 404, .headers = {{"x-a", "b"}}, .body = {Bytes(std::string("0123456789"))}});
  });
  for (const bool http2 : {false, true}) {
    ClientOptions options = server.Options(http2);
    const auto whole = Get(ctx_, options);
    ASSERT_TRUE(whole.ok()) << whole.status().ToString();
    EXPECT_EQ(whole->status, 404);
    EXPECT_EQ(whole->headers.Get("x-a"), "b");
    EXPECT_EQ(whole->body, "0123456789");
    options.max_response_bytes = 4;
    EXPECT_EQ(Get(ctx_, options)->body, "0123");
  }
}

TEST_F(FetchTest, EndsWhenContextStops) {
  const HostileServer silent(ctx_, {.name = "Silence"});
  ClientOptions options{.host = "127.0.0.1", .port = silent.port()};
  options.connect_timeout = 1ms;  // has no effect
  for (const bool tls : {true, false}) {
    options.tls = tls;
    EXPECT_EQ(Get(ctx_.WithTimeout(200ms), options).status(), Context::DeadlineExceeded());
  }
  Context stopped = ctx_.Child();
  stopped.Stop();
  EXPECT_EQ(Get(stopped, options).status(), Context::Canceled());
}

TEST_F(FetchTest, ManyRequestsWithoutResponseUseOneThread) {
  const HostileServer silent(ctx_, {.name = "Silence"});
  Context waiting = ctx_.Child();
  constexpr int kMany = 500;
  std::vector<std::unique_ptr<Later<Result<Fetched>>>> all;
  for (int i = 0; i < kMany; ++i) {
    all.push_back(std::make_unique<Later<Result<Fetched>>>());
    Fetch(waiting, {.host = "127.0.0.1", .port = silent.port(), .tls = false, .loop = loop_},
          {.method = "GET", .target = "/"}, all.back()->Set());
  }
  Loopback server([](const ExchangePtr& exchange) { exchange->Send({.status = 200}); });
  EXPECT_EQ(Get(ctx_, server.Options(true))->status, 200);
  waiting.Stop();
  for (const auto& each : all) EXPECT_EQ(each->Wait().status(), Context::Canceled());
}

TEST_F(FetchTest, TryConnectResolvesNamesAndReportsErrors) {
  std::optional<HostileServer> server(std::in_place, ctx_, Hostility{.name = "Silence"});
  const uint16_t port = server->port();
  EXPECT_TRUE(Connect(ctx_, "127.0.0.1", port).ok());
  EXPECT_TRUE(Connect(ctx_, "localhost", port).ok());
  EXPECT_THAT(Connect(ctx_, "no.such.invalid", port).message(),
              HasSubstr("dial tcp: lookup no.such.invalid"));
  server.reset();
  EXPECT_EQ(Connect(ctx_, "127.0.0.1", port).message(),
            "dial tcp 127.0.0.1:" + std::to_string(port) + ": connect: connection refused");
  Context stopped = ctx_.Child();
  stopped.Stop();
  EXPECT_EQ(Connect(stopped, "127.0.0.1", port), Context::Canceled());
}

}  // namespace
}  // namespace cox::net

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "base/scope.h"
#include "net/byte_stream.h"
#include "net/testing/loopback.h"

namespace cox::net {
namespace {

// A server that upgrades each request to a byte stream and passes it to `serve` on a thread.
class Streams {
 public:
  using Serve = std::function<void(Context&, ByteStream&)>;

  explicit Streams(bool tls, Serve serve)
      : serve_(std::move(serve)), scope_(Context(clock_), "streams") {
    loopback.emplace([this](ExchangePtr exchange) { Accept(std::move(exchange)); }, ServerOptions{},
                     tls);
  }
  ~Streams() {
    scope_.Stop();
    loopback->server->Stop();
    scope_.Wait();
  }

  Result<Upgraded> Connect(const std::string& protocol = "SPDY/3.1") {
    Request request;
    request.method = "POST";
    request.target = "/exec?command=sh";
    request.headers.Set("upgrade", protocol);
    request.headers.Set("x-stream-protocol-version", "v4.channel.k8s.io");
    return ConnectUpgrade(loopback->context, loopback->Options(false), std::move(request));
  }
  Context& context() { return loopback->context; }

 private:
  void Accept(ExchangePtr exchange) {
    const Status started = scope_.Go("serve", [this, exchange](Context&) mutable {
      if (UpgradeOf(exchange->request()) == "no/1") {
        return exchange->Send({.status = 403, .headers = {}, .body = {Bytes::Static("never")}});
      }
      Headers headers;
      headers.Add("x-stream-protocol-version",
                  std::string(*exchange->request().headers.Get("x-stream-protocol-version")));
      auto stream = exchange->SwitchProtocols(std::move(headers));
      if (!stream.ok()) {
        return exchange->Send({.status = 400, .headers = {}, .body = {Bytes::Static("no")}});
      }
      Context context = exchange->context();
      exchange.reset();
      serve_(context, **stream);
    });
    ASSERT_TRUE(started.ok());
  }

  RealClock clock_;
  const Serve serve_;
  Scope scope_;

 public:
  std::optional<Loopback> loopback;
};

std::string ReadAll(const Context& ctx, ByteStream& stream) {
  std::string all;
  while (true) {
    const Result<Bytes> bytes = stream.Read(ctx);
    if (!bytes.ok()) return all + "[" + bytes.status().message() + "]";
    if (bytes->empty()) return all;
    all += bytes->view();
  }
}

void Echo(Context& ctx, ByteStream& stream) {
  while (true) {
    const Result<Bytes> bytes = stream.Read(ctx);
    if (!bytes.ok() || bytes->empty()) break;
    if (!stream.Write(ctx, bytes->view()).ok()) return;
  }
  stream.EndWriting();
}

TEST(SwitchProtocols, CarriesBytesBothWaysAndHalfCloses) {
  for (const bool tls : {true, false}) {
    // The server responds only after the client half-closes: the opposite direction must still be
    // open.
    Streams server(tls, [](Context& ctx, ByteStream& stream) {
      const std::string all = ReadAll(ctx, stream);
      EXPECT_TRUE(stream.Write(ctx, "got " + std::to_string(all.size())).ok());
      stream.EndWriting();
      ReadAll(ctx, stream);
    });
    auto upgraded = server.Connect();
    ASSERT_TRUE(upgraded.ok()) << upgraded.status().ToString();
    ASSERT_EQ(upgraded->answer.status, 101);
    EXPECT_EQ(upgraded->answer.headers.Get("upgrade"), "SPDY/3.1");
    EXPECT_EQ(upgraded->answer.headers.Get("x-stream-protocol-version"), "v4.channel.k8s.io");
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(upgraded->stream->Write(server.context(), std::string(100'000, 'x')).ok());
    }
    upgraded->stream->EndWriting();
    EXPECT_EQ(ReadAll(server.context(), *upgraded->stream), "got 5000000");
  }
}

TEST(SwitchProtocols, ReturnsOtherResponsesWithoutStream) {
  Streams server(true, Echo);
  const auto upgraded = server.Connect("no/1");
  ASSERT_TRUE(upgraded.ok()) << upgraded.status().ToString();
  EXPECT_EQ(upgraded->answer.status, 403);
  EXPECT_EQ(TextOf(upgraded->answer), "never");
  EXPECT_EQ(upgraded->stream, nullptr);
  EXPECT_TRUE(server.Connect("").status().Is(Reason::kBadRequest));
}

TEST(SwitchProtocols, RequestWithoutUpgradeHeaderIsRejected) {
  Streams server(true, Echo);
  auto client = server.loopback->MakeClient(false);
  Request request{.method = "GET", .target = "/"};
  request.headers.Set("x-stream-protocol-version", "v4");
  const auto response = client->Do(server.context(), std::move(request));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->status, 400);
}

TEST(SwitchProtocols, WriterBlocksWhileReaderIsBehind) {
  Streams server(false, [](Context& ctx, ByteStream&) {
    // Reads nothing until the client has disconnected.
    const Context wait = ctx.Child();
    (void)wait.Sleep(std::chrono::hours(1));
  });
  auto upgraded = server.Connect();
  ASSERT_TRUE(upgraded.ok());
  const Context limit = server.context().WithTimeout(std::chrono::milliseconds(300));
  Status status;
  size_t written = 0;
  while (status.ok()) {
    status = upgraded->stream->Write(limit, std::string(100'000, 'x'));
    written += 100'000;
    ASSERT_LT(written, size_t{100'000'000}) << "nothing holds the writer back";
  }
  EXPECT_EQ(status, limit.status());
}

TEST(SwitchProtocols, DestroyedPeerEndsTheStream) {
  Streams server(
      true, [](Context& ctx, ByteStream& stream) { EXPECT_EQ(stream.Read(ctx)->view(), "x"); });
  auto upgraded = server.Connect();
  ASSERT_TRUE(upgraded.ok());
  ASSERT_TRUE(upgraded->stream->Write(server.context(), "x").ok());
  // End of input or an error, depending on the kernel; but not a wait.
  const Result<Bytes> bytes = upgraded->stream->Read(server.context());
  EXPECT_TRUE(!bytes.ok() || bytes->empty());
  EXPECT_TRUE(server.context().status().ok());
}

TEST(SwitchProtocols, OutputBeforeEndWritingIsSentAfterDestruction) {
  Streams server(true, [](Context& ctx, ByteStream& stream) {
    EXPECT_TRUE(stream.Write(ctx, std::string(200'000, 'y')).ok());
    stream.EndWriting();
  });
  auto upgraded = server.Connect();
  ASSERT_TRUE(upgraded.ok());
  EXPECT_EQ(ReadAll(server.context(), *upgraded->stream).size(), 200'000u);
}

TEST(Pipe, ForwardsAStream) {
  Streams backend(false, Echo);
  Streams front(true, [&](Context& ctx, ByteStream& stream) {
    auto upgraded = backend.Connect();
    ASSERT_TRUE(upgraded.ok());
    EXPECT_EQ(Pipe(ctx, stream, *upgraded->stream), Status());
  });
  auto client = front.Connect();
  ASSERT_TRUE(client.ok());
  for (const char* text : {"one", "two"}) {
    ASSERT_TRUE(client->stream->Write(front.context(), text).ok());
    EXPECT_EQ(client->stream->Read(front.context())->view(), text);
  }
  client->stream->EndWriting();
  EXPECT_EQ(ReadAll(front.context(), *client->stream), "");
}

class PipeTest : public testing::Test {
 protected:
  PipeTest() {
    std::tie(left_, a_) = MakeByteStreamPair();
    std::tie(right_, b_) = MakeByteStreamPair();
  }
  void Start(const PipeLimits& limits = {}) {
    ASSERT_TRUE(scope_
                    .Go("pipe",
                        [this, limits](Context& ctx) {
                          result_ = Pipe(ctx, *a_, *b_, limits);
                          a_.reset();
                          b_.reset();
                        })
                    .ok());
  }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(std::chrono::seconds(30));
  std::unique_ptr<ByteStream> left_, a_, right_, b_;
  Status result_;
  Scope scope_{ctx_, "test"};
};

TEST_F(PipeTest, OneDirectionContinuesAfterTheOtherEnds) {
  Start();
  left_->EndWriting();
  EXPECT_EQ(ReadAll(ctx_, *right_), "");
  ASSERT_TRUE(right_->Write(ctx_, "late").ok());
  right_->EndWriting();
  EXPECT_EQ(ReadAll(ctx_, *left_), "late");
  scope_.Wait();
  EXPECT_EQ(result_, Status());
}

TEST_F(PipeTest, LingerTimeoutEndsSilentDirection) {
  Start({.linger = std::chrono::milliseconds(1)});
  left_->EndWriting();
  scope_.Wait();
  EXPECT_FALSE(result_.ok());
  EXPECT_TRUE(ctx_.status().ok());
}

TEST_F(PipeTest, IdleTimeoutClosesBothEnds) {
  Start({.idle = std::chrono::milliseconds(20)});
  EXPECT_EQ(ReadAll(ctx_, *right_), "");
  EXPECT_EQ(ReadAll(ctx_, *left_), "");
  scope_.Wait();
  EXPECT_TRUE(result_.Is(Reason::kServiceUnavailable)) << result_.ToString();
  EXPECT_TRUE(ctx_.status().ok());
}

TEST_F(PipeTest, DataInOneDirectionKeepsBothOpen) {
  Start({.idle = std::chrono::seconds(2)});
  const Clock::SteadyTime end = clock_.Monotonic() + std::chrono::seconds(3);
  while (clock_.Monotonic() < end) {
    ASSERT_TRUE(left_->Write(ctx_, "x").ok());
    ASSERT_TRUE(right_->Read(ctx_).ok());
    ASSERT_TRUE(ctx_.Sleep(std::chrono::milliseconds(10)).ok());
  }
  ASSERT_TRUE(right_->Write(ctx_, "still open").ok());
  EXPECT_EQ(left_->Read(ctx_)->view(), "still open");
  scope_.Stop();
}

TEST_F(PipeTest, BrokenEndClosesBoth) {
  Start();
  left_.reset();
  scope_.Wait();
  EXPECT_TRUE(result_.Is(Reason::kServiceUnavailable)) << result_.ToString();
  EXPECT_EQ(ReadAll(ctx_, *right_), "");
}

TEST_F(PipeTest, ForwardsOutputOfAnEndThatAcceptsNoInput) {
  ASSERT_TRUE(right_->Write(ctx_, "last words").ok());
  right_->EndWriting();
  right_.reset();  // accepts no more input
  ASSERT_TRUE(left_->Write(ctx_, "in vain").ok());
  Start();
  EXPECT_EQ(ReadAll(ctx_, *left_), "last words");
  left_->EndWriting();
  scope_.Wait();
}

TEST_F(PipeTest, StopsWhenContextStops) {
  Start();
  scope_.Stop();
  scope_.Wait();
  EXPECT_EQ(result_, Context::Canceled());
}

}  // namespace
}  // namespace cox::net

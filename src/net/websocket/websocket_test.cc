// SPDX-License-Identifier: Apache-2.0
#include "net/websocket.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "net/testing/loopback.h"
#include "net/websocket/link.h"

namespace cox::net {
namespace {

using std::chrono::seconds;

// A server that upgrades each request to a WebSocket and passes it to `serve` on its own thread.
class Sockets {
 public:
  using Serve = std::function<void(Context&, WebSocket&)>;

  explicit Sockets(bool tls, Serve serve, WebSocketOptions options = {})
      : serve_(std::move(serve)), options_(options), scope_(Context(clock_), "sockets") {
    loopback.emplace([this](ExchangePtr exchange) { Accept(std::move(exchange)); }, ServerOptions{},
                     tls);
  }
  ~Sockets() {
    scope_.Stop();
    loopback->server->Stop();
    scope_.Wait();
  }

  Result<std::unique_ptr<WebSocket>> Connect(WebSocketOptions options = {},
                                             Response* refusal = nullptr) {
    Request request;
    request.target = "/socket?x=1";
    return ConnectWebSocket(loopback->context, loopback->Options(false), std::move(request),
                            {"v5", "v4"}, options, refusal);
  }
  Context& context() { return loopback->context; }

 private:
  void Accept(ExchangePtr exchange) {
    const Status started = scope_.Go("serve", [this, exchange](Context&) mutable {
      auto socket = exchange->Upgrade({"v4"}, options_);
      if (!socket.ok()) {
        return exchange->Send({.status = 418, .headers = {}, .body = {Bytes::Static("no")}});
      }
      Context context = exchange->context();
      exchange.reset();
      serve_(context, **socket);
    });
    ASSERT_TRUE(started.ok());
  }

  RealClock clock_;
  const Serve serve_;
  const WebSocketOptions options_;
  Scope scope_;

 public:
  std::optional<Loopback> loopback;
};

void Echo(Context& ctx, WebSocket& socket) {
  for (;;) {
    const auto message = socket.Receive(ctx);
    if (!message.ok() || !message->has_value()) return;
    if (!socket.Send(ctx, (*message)->view()).ok()) return;
  }
}

std::string Take(Context& ctx, WebSocket& socket) {
  const auto message = socket.Receive(ctx);
  if (!message.ok()) return message.status().ToString();
  return message->has_value() ? std::string((*message)->view()) : "closed";
}

TEST(WebSocket, CarriesMessagesBothWaysWithAndWithoutTls) {
  for (const bool tls : {true, false}) {
    Sockets server(tls, Echo);
    auto socket = server.Connect();
    ASSERT_TRUE(socket.ok()) << socket.status().ToString();
    EXPECT_EQ((*socket)->protocol(), "v4");
    for (const size_t size : {0, 1, 125, 126, 65'536, 5'000'000}) {
      const std::string message(size, 'm');
      ASSERT_TRUE((*socket)->Send(server.context(), message).ok());
      EXPECT_EQ(Take(server.context(), **socket), message);
    }
    EXPECT_TRUE((*socket)->Close(server.context(), 1000, "done").ok());
    EXPECT_EQ((*socket)->closed()->code, 1000);
  }
}

TEST(WebSocket, ConcurrentSendersAndReceivers) {
  Sockets server(true, Echo);
  auto socket = server.Connect();
  ASSERT_TRUE(socket.ok());
  constexpr int kThreads = 4;
  constexpr int kMessages = 500;
  std::atomic<int> received = 0;
  Scope scope(server.context(), "users");
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_TRUE(scope
                    .Go("sender",
                        [&](Context& ctx) {
                          for (int n = 0; n < kMessages; ++n) {
                            EXPECT_TRUE((*socket)->Send(ctx, std::string(1000, 's')).ok());
                          }
                        })
                    .ok());
    ASSERT_TRUE(scope
                    .Go("receiver",
                        [&](Context& ctx) {
                          for (int n = 0; n < kMessages; ++n) {
                            if (Take(ctx, **socket).size() == 1000) ++received;
                          }
                        })
                    .ok());
  }
  scope.Wait();
  EXPECT_EQ(received, kThreads * kMessages);
}

TEST(WebSocket, BackPressureInBothDirectionsDoesNotDeadlock) {
  std::atomic<size_t> sent = 0;
  std::atomic<bool> go = false;
  Mutex mu;
  CondVar changed;
  constexpr size_t kTotal = 32;
  const std::string megabyte(1 << 20, 'x');
  Sockets server(true, [&](Context& ctx, WebSocket& socket) {
    Scope scope(ctx, "both");
    ASSERT_TRUE(scope
                    .Go("send",
                        [&](Context& inner) {
                          for (size_t i = 0; i < kTotal; ++i) {
                            if (!socket.Send(inner, megabyte).ok()) return;
                            ++sent;
                          }
                        })
                    .ok());
    {
      MutexLock lock(mu);
      if (!ctx.Await(mu, changed, [&] { return go.load(); }).ok()) return;
    }
    for (size_t i = 0; i < kTotal; ++i) EXPECT_EQ(Take(ctx, socket).size(), megabyte.size());
    scope.Wait();
    Take(ctx, socket);  // the close frame
  });
  auto socket = server.Connect();
  ASSERT_TRUE(socket.ok());
  // Neither side reads: both senders must block long before everything is sent.
  Context brief = server.context().WithTimeout(std::chrono::milliseconds(700));
  size_t accepted = 0;
  while ((*socket)->Send(brief, megabyte).ok()) ASSERT_LT(++accepted, kTotal);
  EXPECT_LT(sent, kTotal);
  {
    MutexLock lock(mu);
    go = true;
    changed.NotifyAll();
  }
  Scope scope(server.context(), "rest");
  ASSERT_TRUE(scope
                  .Go("send",
                      [&](Context& ctx) {
                        for (size_t i = accepted; i < kTotal; ++i) {
                          EXPECT_TRUE((*socket)->Send(ctx, megabyte).ok());
                        }
                      })
                  .ok());
  for (size_t i = 0; i < kTotal; ++i) {
    EXPECT_EQ(Take(server.context(), **socket).size(), megabyte.size());
  }
  scope.Wait();
  EXPECT_TRUE((*socket)->Close(server.context()).ok());
}

TEST(WebSocket, OversizedMessageClosesWith1009) {
  std::string seen;
  WebSocketOptions small;
  small.max_message_bytes = 1000;
  {
    Sockets server(
        true, [&](Context& ctx, WebSocket& socket) { seen = Take(ctx, socket); }, small);
    auto socket = server.Connect();
    ASSERT_TRUE(socket.ok());
    ASSERT_TRUE((*socket)->Send(server.context(), std::string(1001, 'x')).ok());
    EXPECT_EQ(Take(server.context(), **socket), "closed");
    EXPECT_EQ((*socket)->closed()->code, close_code::kTooBig);
  }
  EXPECT_EQ(seen, "RequestEntityTooLarge: WebSocket: message too big");
}

TEST(WebSocket, DestructionBreaksThePeer) {
  std::string seen;
  {
    Sockets server(true, [&](Context& ctx, WebSocket& socket) {
      Context forever = ctx.WithTimeout(seconds(60));
      seen = Take(forever, socket);
    });
    auto socket = server.Connect();
    ASSERT_TRUE(socket.ok());
    socket->reset();
  }
  // The exchange's context also stops when the peer disconnects: either may be seen first.
  EXPECT_TRUE(seen.find("ServiceUnavailable") == 0 || seen.find("Timeout") == 0) << seen;
}

TEST(WebSocket, DestructionOnServerBreaksTheClient) {
  Sockets server(true, [](Context& ctx, WebSocket& socket) { Take(ctx, socket); });
  auto socket = server.Connect();
  ASSERT_TRUE(socket.ok());
  ASSERT_TRUE((*socket)->Send(server.context(), "go").ok());
  const auto message = (*socket)->Receive(server.context());
  EXPECT_TRUE(message.status().Is(Reason::kServiceUnavailable)) << message.status().ToString();
  EXPECT_FALSE((*socket)->closed().has_value());
}

TEST(WebSocket, StopStreamsClosesWithGoingAway) {
  Sockets server(true, Echo);
  auto socket = server.Connect();
  ASSERT_TRUE(socket.ok());
  ASSERT_TRUE((*socket)->Send(server.context(), "up").ok());
  ASSERT_EQ(Take(server.context(), **socket), "up");
  server.loopback->server->StopStreams();
  EXPECT_EQ(Take(server.context(), **socket), "closed");
  ASSERT_TRUE((*socket)->closed().has_value());
  EXPECT_EQ((*socket)->closed()->code, close_code::kGoingAway);
}

TEST(WebSocket, StoppedContextEndsWaitButNotTheSocket) {
  Sockets server(true, Echo);
  auto socket = server.Connect();
  ASSERT_TRUE(socket.ok());
  Context stopped = server.context().Child();
  stopped.Stop(Status::Timeout("enough"));
  EXPECT_EQ((*socket)->Receive(stopped).status(), Status::Timeout("enough"));
  ASSERT_TRUE((*socket)->Send(server.context(), "still").ok());
  EXPECT_EQ(Take(server.context(), **socket), "still");
}

TEST(WebSocket, OtherResponsesAreReturnedAsRefusal) {
  Loopback loopback([](ExchangePtr exchange) {
    exchange->Send({.status = 403,
                    .headers = {{"content-type", "application/json"}},
                    .body = {Bytes::Static("{\"kind\":\"Status\"}")}});
  });
  Response refusal;
  const auto socket =
      ConnectWebSocket(loopback.context, loopback.Options(true), {}, {"v4"}, {}, &refusal);
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.status().code(), 403);
  EXPECT_EQ(refusal.status, 403);
  EXPECT_EQ(TextOf(refusal), "{\"kind\":\"Status\"}");
}

TEST(WebSocket, StoppedContextEndsConnect) {
  std::vector<ExchangePtr> kept;
  Mutex mu;
  Loopback loopback([&](ExchangePtr exchange) {
    MutexLock lock(mu);
    kept.push_back(std::move(exchange));
  });
  Context brief = loopback.context.WithTimeout(std::chrono::milliseconds(50));
  const auto socket = ConnectWebSocket(brief, loopback.Options(true), {}, {"v4"});
  EXPECT_TRUE(socket.status().Is(Reason::kTimeout)) << socket.status().ToString();
  MutexLock lock(mu);
  kept.clear();
}

TEST(WebSocket, RefusedConnectionIsUnavailable) {
  RealClock clock;
  Context context(clock);
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = 1;
  options.tls = false;
  EXPECT_TRUE(ConnectWebSocket(context, options, {}, {}).status().Is(Reason::kServiceUnavailable));
}

TEST(WebSocketPair, CarriesMessagesAndCloses) {
  RealClock clock;
  Context context = Context(clock).WithTimeout(seconds(60));
  auto [near, far] = MakeWebSocketPair("v4");
  EXPECT_EQ(far->protocol(), "v4");
  ASSERT_TRUE(near->Send(context, "one").ok());
  ASSERT_TRUE(near->Send(context, "").ok());
  ASSERT_TRUE(near->Close(context, 4000, "bye").ok());
  EXPECT_EQ(Take(context, *far), "one");
  EXPECT_EQ(Take(context, *far), "");
  EXPECT_EQ(Take(context, *far), "closed");
  EXPECT_EQ(far->closed()->code, 4000);
  EXPECT_EQ(near->closed()->code, 4000);
  EXPECT_TRUE(far->Send(context, "x").Is(Reason::kServiceUnavailable));
  EXPECT_TRUE(far->Close(context).ok());
}

TEST(WebSocketPair, HasBackPressureAndBreaksOnDestruction) {
  RealClock clock;
  Context context = Context(clock).WithTimeout(seconds(60));
  auto [near, far] = MakeWebSocketPair("", {.max_message_bytes = 1000, .window_bytes = 500});
  EXPECT_TRUE(near->Send(context, std::string(1001, 'x')).Is(Reason::kRequestEntityTooLarge));
  ASSERT_TRUE(near->Send(context, std::string(500, 'x')).ok());
  Context soon = context.WithTimeout(std::chrono::milliseconds(20));
  EXPECT_TRUE(near->Send(soon, "y").Is(Reason::kTimeout));
  EXPECT_EQ(Take(context, *far).size(), 500U);
  ASSERT_TRUE(near->Send(context, "y").ok());
  near.reset();
  EXPECT_EQ(Take(context, *far), "y");
  EXPECT_TRUE(far->Receive(context).status().Is(Reason::kServiceUnavailable));
  EXPECT_FALSE(far->closed().has_value());
}

// A link without a socket, on this thread, with a manual clock.
struct Link {
  explicit Link(bool client, WebSocketOptions options = {}) {
    loop->AdoptThisThread();
    core = std::make_shared<WebSocketCore>(loop, options, client);
    link = std::make_unique<WebSocketLink>(core);
    link->Start([this] { ++changes; });
    socket = MakeWebSocket(core, "v4");
  }
  ~Link() {
    socket.reset();
    link.reset();
    loop->Stop();
  }
  std::string Output() {
    loop->Poll();
    std::string all;
    char buffer[1000];
    while (const size_t size = link->Produce(buffer, sizeof(buffer))) all.append(buffer, size);
    return all;
  }
  void Advance(Clock::Duration by) {
    clock.Advance(by);
    loop->Poll();
  }
  Status End() {
    Context now = context.Child();
    now.Stop();
    return socket->Receive(now).status();
  }

  TestClock clock;
  Context context{clock};
  std::shared_ptr<EventLoop> loop = std::make_shared<EventLoop>(clock);
  std::shared_ptr<WebSocketCore> core;
  std::unique_ptr<WebSocketLink> link;
  std::unique_ptr<WebSocket> socket;
  int changes = 0;
};

constexpr char kPing[] = {'\x89', '\0'};
constexpr char kPong[] = {'\x8a', '\0'};
constexpr std::array<uint8_t, 4> kMask{1, 2, 3, 4};

std::string Masked(Opcode opcode, std::string_view payload) {
  std::string frame;
  AppendFrame(opcode, payload, &kMask, &frame);
  return frame;
}

TEST(WebSocketLink, PingsSilentPeerAndAbortsWithoutReply) {
  Link end(false);
  end.Advance(seconds(29));
  EXPECT_EQ(end.Output(), "");
  end.Advance(seconds(2));
  EXPECT_EQ(end.Output(), std::string(kPing, 2));
  end.link->Receive(Masked(Opcode::kPong, ""));
  end.Advance(seconds(29));
  EXPECT_EQ(end.Output(), "");
  end.Advance(seconds(2));
  EXPECT_EQ(end.Output(), std::string(kPing, 2));
  EXPECT_FALSE(end.link->aborted());
  end.Advance(seconds(16));
  EXPECT_TRUE(end.link->aborted());
  EXPECT_EQ(end.End(), Status::Unavailable("the peer does not answer pings"));
}

TEST(WebSocketLink, PingTimeoutStartsWhenPingIsSent) {
  Link end(false);
  end.Advance(seconds(31));
  end.Advance(seconds(600));  // a full socket: Produce is not called
  EXPECT_FALSE(end.link->aborted());
  EXPECT_EQ(end.Output(), std::string(kPing, 2));
  end.Advance(seconds(16));
  EXPECT_TRUE(end.link->aborted());
}

TEST(WebSocketLink, RepliesToTheNewestPingOnly) {
  Link end(false);
  end.link->Receive(Masked(Opcode::kPing, "one") + Masked(Opcode::kPing, "two"));
  EXPECT_EQ(end.Output(), std::string("\x8a\x03two", 5));
}

TEST(WebSocketLink, SendsUnsolicitedPongsWhilePaused) {
  WebSocketOptions options;
  options.window_bytes = 100;
  Link end(false, options);
  end.link->Receive(Masked(Opcode::kBinary, std::string(100, 'x')));
  EXPECT_FALSE(end.link->wants_input());
  for (int i = 0; i < 5; ++i) {
    end.Advance(seconds(16));
    EXPECT_EQ(end.Output(), std::string(kPong, 2));
  }
  EXPECT_EQ(Take(end.context, *end.socket).size(), 100U);
  end.loop->Poll();
  EXPECT_TRUE(end.link->wants_input());
  EXPECT_FALSE(end.link->aborted());
  end.Advance(seconds(31));
  EXPECT_EQ(end.Output(), std::string(kPing, 2));
}

TEST(WebSocketLink, ProduceReturnsOneFrameAtATime) {
  Link end(false);
  ASSERT_TRUE(end.socket->Send(end.context, "one").ok());
  ASSERT_TRUE(end.socket->Send(end.context, "two").ok());
  char buffer[100];
  EXPECT_EQ(end.link->Produce(buffer, sizeof(buffer)), 5U);
  EXPECT_EQ(end.link->Produce(buffer, 3), 3U);
  EXPECT_EQ(end.link->Produce(buffer, sizeof(buffer)), 2U);
  EXPECT_EQ(end.link->Produce(buffer, sizeof(buffer)), 0U);
}

TEST(WebSocketLink, EmptyMessagesCountAgainstTheWindow) {
  WebSocketOptions options;
  options.window_bytes = 1000;
  Link end(false, options);
  for (int i = 0; i < 100; ++i) end.link->Receive(Masked(Opcode::kBinary, ""));
  EXPECT_FALSE(end.link->wants_input());
}

TEST(WebSocketLink, ViolationSendsCloseAndNothingAfter) {
  Link end(false);
  ASSERT_TRUE(end.socket->Send(end.context, "queued").ok());
  std::string unmasked;
  AppendFrame(Opcode::kBinary, "x", nullptr, &unmasked);
  end.link->Receive(unmasked + Masked(Opcode::kBinary, "after"));
  std::string expected;
  AppendFrame(Opcode::kClose, ClosePayload(1002, "frame of a client without mask"), nullptr,
              &expected);
  EXPECT_EQ(end.Output(), expected);
  EXPECT_TRUE(end.link->finished());
  EXPECT_TRUE(end.End().Is(Reason::kBadRequest));
}

TEST(WebSocketLink, EchoesCloseAndKeepsEarlierMessages) {
  Link end(false);
  end.link->Receive(Masked(Opcode::kBinary, "last") +
                    Masked(Opcode::kClose, ClosePayload(4001, "enough")) +
                    Masked(Opcode::kBinary, "never"));
  std::string expected;
  AppendFrame(Opcode::kClose, ClosePayload(4001, ""), nullptr, &expected);
  EXPECT_EQ(end.Output(), expected);
  EXPECT_TRUE(end.link->finished());
  EXPECT_EQ(Take(end.context, *end.socket), "last");
  EXPECT_EQ(Take(end.context, *end.socket), "closed");
  EXPECT_EQ(end.socket->closed()->code, 4001);
  EXPECT_EQ(end.socket->closed()->reason, "enough");
  EXPECT_TRUE(end.socket->Send(end.context, "x").Is(Reason::kServiceUnavailable));
}

TEST(WebSocketLink, UnansweredCloseTimesOut) {
  Link end(true);
  Context stopped = end.context.Child();
  stopped.Stop();
  EXPECT_FALSE(end.socket->Close(stopped).ok());  // the close is queued, not awaited
  EXPECT_EQ(end.Output().size(), 8U);
  end.Advance(seconds(6));
  EXPECT_TRUE(end.link->aborted());
  EXPECT_TRUE(end.End().Is(Reason::kServiceUnavailable));
}

}  // namespace
}  // namespace cox::net

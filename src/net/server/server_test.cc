// SPDX-License-Identifier: Apache-2.0
#include "net/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <latch>
#include <set>
#include <thread>

#include "base/mutex.h"
#include "net/testing/loopback.h"

namespace cox::net {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

void Echo(const ExchangePtr& exchange) {
  const Request& request = exchange->request();
  Response response;
  response.headers.Add("x-version", std::to_string(request.version));
  response.body.push_back(Bytes(request.method + " " + request.target + " "));
  response.body.push_back(Bytes(request.body));
  exchange->Send(std::move(response));
}

// Returns 1 MB pieces forever and counts them.
struct Endless final : BodySource {
  explicit Endless(std::atomic<size_t>& pulled) : pulled(pulled) {}
  State Pull(size_t, std::vector<Bytes>* out) override {
    static const Bytes piece(std::string(1 << 20, 'x'));
    out->push_back(piece);
    ++pulled;
    return State::kMore;
  }
  std::atomic<size_t>& pulled;
};

// Streams the lines that the test passes to Say.
struct Feed {
  void Say(std::string line) {
    std::shared_ptr<Waker> wake;
    {
      MutexLock lock(mu);
      lines.push_back(std::move(line));
      wake = waker;
    }
    if (wake != nullptr) wake->Wake();
  }
  void Serve(const ExchangePtr& exchange);
  Mutex mu;
  std::vector<std::string> lines COX_GUARDED_BY(mu);
  std::shared_ptr<Waker> waker COX_GUARDED_BY(mu);
};
struct FeedSource final : BodySource {
  explicit FeedSource(Feed& feed) : feed(feed) {}
  State Pull(size_t, std::vector<Bytes>* out) override {
    MutexLock lock(feed.mu);
    for (; next < feed.lines.size(); ++next) {
      if (feed.lines[next] == "end") return State::kEnd;
      out->push_back(Bytes(feed.lines[next]));
    }
    return State::kWait;
  }
  Feed& feed;
  size_t next = 0;
};

void Feed::Serve(const ExchangePtr& exchange) {
  std::shared_ptr<Waker> made = exchange->Stream(200, {}, std::make_unique<FeedSource>(*this));
  MutexLock lock(mu);
  waker = std::move(made);
}

// Polls, in real time, until `ready` returns true.
template <class Ready>
bool Eventually(Context& ctx, Ready ready) {
  while (!ready()) {
    if (!ctx.Sleep(1ms).ok()) return false;
  }
  return true;
}

int RawConnection(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

struct Transport {
  bool http2;
  bool tls;
};
class ServerTest : public testing::TestWithParam<Transport> {};

TEST_P(ServerTest, RoundTripsSmallAndLargeBodies) {
  Loopback loopback(Echo, {}, GetParam().tls);
  const auto client = loopback.MakeClient(GetParam().http2);
  for (const size_t size : {0, 1, 100, 70'000, 3 * 1024 * 1024}) {
    const std::string body(size, 'b');
    auto response =
        client->Do(loopback.context, {.method = "POST", .target = "/a?b=c", .body = body});
    ASSERT_TRUE(response.ok()) << response.status().ToString();
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->headers.Get("x-version"), GetParam().http2 ? "2" : "1");
    EXPECT_TRUE(response->headers.Get("date"));
    EXPECT_EQ(response->headers.Get("content-length"), std::to_string(size + 12));
    EXPECT_EQ(TextOf(*response), "POST /a?b=c " + body);
  }
  EXPECT_EQ(client->connections(), 1U);
}

TEST_P(ServerTest, RespondsFromOtherThreads) {
  std::vector<std::thread> threads;
  Mutex mu;
  {
    Loopback loopback(
        [&](ExchangePtr exchange) {
          MutexLock lock(mu);
          threads.emplace_back([exchange = std::move(exchange)] { Echo(exchange); });
        },
        {}, GetParam().tls);
    const auto client = loopback.MakeClient(GetParam().http2);
    std::vector<std::thread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&, i] {
        for (int k = 0; k < 20; ++k) {
          const std::string target = "/" + std::to_string(i) + "/" + std::to_string(k);
          auto response = client->Do(loopback.context, {.method = "GET", .target = target});
          ASSERT_TRUE(response.ok()) << response.status().ToString();
          EXPECT_EQ(TextOf(*response), "GET " + target + " ");
        }
      });
    }
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(loopback.server->stats().requests, 160U);
  }
  for (auto& thread : threads) thread.join();
}

TEST_P(ServerTest, WatchReceivesEachEventWhenWoken) {
  Feed feed;
  Loopback loopback([&](const ExchangePtr& exchange) { feed.Serve(exchange); }, {}, GetParam().tls);
  const auto client = loopback.MakeClient(GetParam().http2);
  auto watch = client->Start(loopback.context, {.method = "GET", .target = "/watch"});
  ASSERT_TRUE(watch.ok()) << watch.status().ToString();
  for (const std::string line : {"ADDED", "MODIFIED", "DELETED"}) {
    feed.Say(line);
    auto piece = (*watch)->Read(loopback.context);
    ASSERT_TRUE(piece.ok());
    EXPECT_EQ(piece->view(), line);
  }
  feed.Say("end");
  auto piece = (*watch)->Read(loopback.context);
  ASSERT_TRUE(piece.ok());
  EXPECT_TRUE(piece->empty());
}

TEST_P(ServerTest, StalledReaderIsNotPulledAndOthersContinue) {
  std::atomic<size_t> pulled = 0;
  Loopback loopback(
      [&](const ExchangePtr& exchange) {
        if (exchange->request().target != "/endless") return Echo(exchange);
        exchange->Stream(200, {}, std::make_unique<Endless>(pulled));
      },
      {}, GetParam().tls);
  const auto client = loopback.MakeClient(GetParam().http2);
  auto stalled = client->Start(loopback.context, {.method = "GET", .target = "/endless"});
  ASSERT_TRUE(stalled.ok());
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(client->Do(loopback.context, {.method = "GET", .target = "/x"}).ok());
  }
  // Only what fits into windows and socket buffers.
  size_t before = 0;
  ASSERT_TRUE(Eventually(loopback.context, [&] {
    const size_t last = std::exchange(before, pulled.load());
    return last == before && client->Do(loopback.context, {.method = "GET", .target = "/x"}).ok();
  }));
  EXPECT_LT(pulled.load(), 64U);
  // The stream continues where it stopped.
  size_t read = 0;
  while (read < (before + 8) << 20) {
    auto piece = (*stalled)->Read(loopback.context);
    ASSERT_TRUE(piece.ok()) << piece.status().ToString();
    read += piece->size();
  }
}

TEST_P(ServerTest, ContextStopsWhenTheClientCancels) {
  Mutex mu;
  ExchangePtr kept;
  std::latch arrived(1);
  Loopback loopback(
      [&](ExchangePtr exchange) {
        MutexLock lock(mu);
        kept = std::move(exchange);
        arrived.count_down();
      },
      {}, GetParam().tls);
  const auto client = loopback.MakeClient(GetParam().http2);
  Context impatient = loopback.context.Child();
  std::thread caller(
      [&] { EXPECT_FALSE(client->Do(impatient, {.method = "GET", .target = "/slow"}).ok()); });
  arrived.wait();
  impatient.Stop();
  caller.join();
  EXPECT_TRUE(Eventually(loopback.context, [&] {
    MutexLock lock(mu);
    return kept->context().Done();
  }));
  MutexLock lock(mu);
  kept->Send({});  // the peer has disconnected; no effect
  kept.reset();
}

TEST_P(ServerTest, DrainWaitsForRequestsInFlight) {
  Mutex mu;
  ExchangePtr kept;
  std::latch arrived(1);
  Loopback loopback(
      [&](ExchangePtr exchange) {
        MutexLock lock(mu);
        kept = std::move(exchange);
        arrived.count_down();
      },
      {}, GetParam().tls);
  const auto client = loopback.MakeClient(GetParam().http2);
  std::thread caller([&] {
    auto response = client->Do(loopback.context, {.method = "GET", .target = "/slow"});
    EXPECT_TRUE(response.ok()) << response.status().ToString();
  });
  arrived.wait();
  Context brief = loopback.context.WithTimeout(20ms);
  EXPECT_FALSE(loopback.server->Drain(brief).ok()) << "a request is in flight";
  {
    MutexLock lock(mu);
    kept->Send({});
    kept.reset();
  }
  EXPECT_TRUE(loopback.server->Drain(loopback.context).ok());
  caller.join();
  EXPECT_EQ(loopback.server->stats().connections, 0U);
  EXPECT_FALSE(client->Do(loopback.context, {.method = "GET", .target = "/late"}).ok());
}

TEST_P(ServerTest, StopStreamsEndsWatchesCleanly) {
  Feed feed;
  Loopback loopback([&](const ExchangePtr& exchange) { feed.Serve(exchange); }, {}, GetParam().tls);
  const auto client = loopback.MakeClient(GetParam().http2);
  auto watch = client->Start(loopback.context, {.method = "GET", .target = "/watch"});
  ASSERT_TRUE(watch.ok());
  loopback.server->StopStreams();
  auto piece = (*watch)->Read(loopback.context);
  ASSERT_TRUE(piece.ok()) << piece.status().ToString();
  EXPECT_TRUE(piece->empty());
}

INSTANTIATE_TEST_SUITE_P(Transports, ServerTest,
                         testing::Values(Transport{true, true}, Transport{false, true},
                                         Transport{true, false}, Transport{false, false}),
                         [](const auto& transport) {
                           return std::string(transport.param.http2 ? "Http2" : "Http1") +
                                  (transport.param.tls ? "Tls" : "Plain");
                         });

TEST(Server, HandshakeTimeoutClosesConnection) {
  Loopback loopback(Echo, {.handshake_timeout = 50ms});
  const int silent = RawConnection(loopback.server->port());
  char byte = 0;
  EXPECT_EQ(recv(silent, &byte, 1, 0), 0) << "the server hung up";
  close(silent);
  EXPECT_EQ(loopback.server->stats().refused, 1U);
}

TEST(Server, OldestHalfOpenHandshakeIsEvicted) {
  Loopback loopback(Echo, {.loops = 1, .max_half_open = 3});
  std::vector<int> silent;
  for (int i = 0; i < 10; ++i) silent.push_back(RawConnection(loopback.server->port()));
  char byte = 0;
  for (int i = 0; i < 7; ++i) EXPECT_EQ(recv(silent[static_cast<size_t>(i)], &byte, 1, 0), 0);
  // Real clients still connect.
  const auto client = loopback.MakeClient(true);
  EXPECT_TRUE(client->Do(loopback.context, {.method = "GET", .target = "/"}).ok());
  for (const int fd : silent) close(fd);
}

TEST(Server, ConnectionsBeyondTheLimitAreClosed) {
  Loopback loopback(Echo, {.loops = 1, .max_connections = 2}, false);
  const int first = RawConnection(loopback.server->port());
  const int second = RawConnection(loopback.server->port());
  const int third = RawConnection(loopback.server->port());
  char byte = 0;
  EXPECT_EQ(recv(third, &byte, 1, 0), 0);
  for (const int fd : {first, second, third}) close(fd);
}

TEST(Server, ConnectionsAreSpreadOverTheEventLoops) {
  Mutex mu;
  std::set<std::thread::id> threads;
  const auto handler = [&](const ExchangePtr& exchange) {
    {
      MutexLock lock(mu);
      threads.insert(std::this_thread::get_id());
    }
    Echo(exchange);
  };
  Loopback loopback(handler, {.loops = 3});
  for (int i = 0; i < 6; ++i) {
    const auto client = loopback.MakeClient(true);
    EXPECT_TRUE(client->Do(loopback.context, {.method = "GET", .target = "/"}).ok());
  }
  MutexLock lock(mu);
  EXPECT_EQ(threads.size(), 3U);
}

TEST(Server, HeaderTimeoutClosesConnection) {
  Loopback loopback(Echo, {.header_timeout = 50ms}, false);
  const int slow = RawConnection(loopback.server->port());
  EXPECT_EQ(send(slow, "GET / HT", 8, 0), 8);
  char byte = 0;
  EXPECT_LE(recv(slow, &byte, 1, 0), 0) << "the server hung up";
  close(slow);
}

TEST(Server, WriteTimeoutClosesConnection) {
  std::atomic<size_t> pulled = 0;
  Loopback loopback(
      [&](const ExchangePtr& exchange) {
        exchange->Stream(200, {}, std::make_unique<Endless>(pulled));
      },
      {.write_timeout = 50ms}, false);
  const int deaf = RawConnection(loopback.server->port());
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(send(deaf, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  EXPECT_TRUE(Eventually(loopback.context, [&] { return loopback.server->stats().refused == 1; }));
  EXPECT_LT(pulled.load(), 64U);
  close(deaf);
}

TEST(Server, PlainHttpToTlsPortGets400) {
  Loopback loopback(Echo);
  const int fd = RawConnection(loopback.server->port());
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  char buffer[200];
  const ssize_t got = recv(fd, buffer, sizeof(buffer), 0);
  ASSERT_GT(got, 0);
  EXPECT_THAT(std::string(buffer, static_cast<size_t>(got)),
              HasSubstr("Client sent an HTTP request to an HTTPS server."));
  close(fd);
}

TEST(Server, InvalidBindAddressIsRejected) {
  RealClock clock;
  const Context context(clock);
  auto server = Server::Start(context, {.bind_address = "not-an-address"}, Echo);
  EXPECT_TRUE(server.status().Is(Reason::kBadRequest));
}

TEST(Server, PortInUseIsUnavailable) {
  Loopback loopback(Echo, {}, false);
  auto second = Server::Start(loopback.context,
                              {.bind_address = "127.0.0.1", .port = loopback.server->port()}, Echo);
  EXPECT_TRUE(second.status().Is(Reason::kServiceUnavailable));
}

}  // namespace
}  // namespace cox::net

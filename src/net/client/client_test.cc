// SPDX-License-Identifier: Apache-2.0
#include "net/client.h"
#include "base/testing/test_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <future>
#include <latch>
#include <thread>

#include "base/mutex.h"
#include "net/client/not_sent.h"
#include "net/testing/http2_frames.h"
#include "net/testing/loopback.h"

namespace cox::net {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using testing::HasSubstr;

struct Silent final : BodySource {
  State Pull(size_t, std::vector<Bytes>*) override { return State::kWait; }
};

void Answer(const ExchangePtr& exchange) {
  if (exchange->request().target == "/watch") {
    exchange->Stream(200, {}, std::make_unique<Silent>());
    return;
  }
  Response response;
  response.headers.Add("x-peer", exchange->request().peer->address);
  response.body.push_back(Bytes(std::string(1000, 'x')));
  exchange->Send(std::move(response));
}

// Counts the events of many watches.
struct Tally {
  Mutex mu;
  CondVar changed;
  int headers COX_GUARDED_BY(mu) = 0;
  int ends COX_GUARDED_BY(mu) = 0;
};
struct TallyObserver final : ResponseObserver {
  explicit TallyObserver(Tally& tally) : tally(tally) {}
  void OnHeaders(int, Headers) override {
    MutexLock lock(tally.mu);
    ++tally.headers;
    tally.changed.NotifyAll();
  }
  void OnData(std::string_view) override {}
  void OnEnd(const Status&) override {
    MutexLock lock(tally.mu);
    ++tally.ends;
    tally.changed.NotifyAll();
  }
  Tally& tally;
};

// A server whose bytes the test writes. Accepts one connection and then closes the listener.
class Scripted {
 public:
  explicit Scripted(std::function<void(tcp::socket&)> script)
      : acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}),
        thread_([this, script = std::move(script)] {
          boost::system::error_code error;
          tcp::socket socket(io_);
          acceptor_.accept(socket, error);
          acceptor_.close();
          if (!error) script(socket);
        }) {}
  ~Scripted() { thread_.join(); }
  uint16_t port() const { return port_; }

 private:
  boost::asio::io_context io_;
  tcp::acceptor acceptor_;
  const uint16_t port_ = acceptor_.local_endpoint().port();
  std::thread thread_;
};

// Reads until the peer disconnects.
void ReadAll(tcp::socket& socket) {
  char buffer[4096];
  boost::system::error_code error;
  while (!error) socket.read_some(boost::asio::buffer(buffer), error);
}
void Write(tcp::socket& socket, std::string_view bytes) {
  boost::system::error_code error;
  while (!bytes.empty() && !error) {
    bytes.remove_prefix(socket.write_some(boost::asio::buffer(bytes.data(), bytes.size()), error));
  }
}

class ClientTest : public testing::Test {
 protected:
  std::unique_ptr<Client> Plain(uint16_t port, bool http2,
                                std::chrono::milliseconds ping_after = 0ms) {
    ClientOptions options;
    options.host = "127.0.0.1";
    options.port = port;
    options.tls = false;
    options.http2 = http2;
    options.ping_after = ping_after;
    return *Client::Create(context_, options);
  }

  RealClock clock_;
  Context context_ = Context(clock_).WithTimeout(60s);
};

TEST_F(ClientTest, OpensMoreConnectionsAtTheStreamLimit) {
  Loopback loopback(Answer, {.max_streams = 10});
  Tally tally;
  const auto client = loopback.MakeClient(true);
  std::vector<std::unique_ptr<Observation>> watches;
  for (int i = 0; i < 35; ++i) {
    watches.push_back(client->Observe({.method = "GET", .target = "/watch"},
                                      std::make_shared<TallyObserver>(tally)));
  }
  {
    MutexLock lock(tally.mu);
    EXPECT_TRUE(loopback.context
                    .Await(tally.mu, tally.changed,
                           [&]() COX_REQUIRES(tally.mu) { return tally.headers == 35; })
                    .ok());
  }
  EXPECT_EQ(client->connections(), 4U);
  EXPECT_EQ(loopback.server->stats().streams, 35U);
  watches.clear();
  MutexLock lock(tally.mu);
  EXPECT_TRUE(
      loopback.context
          .Await(tally.mu, tally.changed, [&]() COX_REQUIRES(tally.mu) { return tally.ends == 35; })
          .ok());
}

TEST_F(ClientTest, DistributesRequestsOverConfiguredConnections) {
  Loopback loopback([](const ExchangePtr& exchange) { Answer(exchange); });
  ClientOptions options = loopback.Options(true);
  options.connections = 3;
  Tally tally;  // outlives the client, whose destruction ends the watches
  const auto client = loopback.MakeClient(options);
  std::vector<std::unique_ptr<Observation>> watches;
  for (int i = 0; i < 9; ++i) {
    watches.push_back(client->Observe({.method = "GET", .target = "/watch"},
                                      std::make_shared<TallyObserver>(tally)));
  }
  {
    MutexLock lock(tally.mu);
    EXPECT_TRUE(loopback.context
                    .Await(tally.mu, tally.changed,
                           [&]() COX_REQUIRES(tally.mu) { return tally.headers == 9; })
                    .ok());
  }
  EXPECT_EQ(client->connections(), 3U);
}

TEST_F(ClientTest, ReconnectsAfterServerRestart) {
  for (const bool http2 : {true, false}) {
    uint16_t port = 0;
    std::unique_ptr<Client> client;
    {
      Loopback first(Answer, {}, false);
      port = first.server->port();
      client = Plain(port, http2);
      EXPECT_TRUE(client->Do(context_, {.method = "GET", .target = "/"}).ok());
      EXPECT_TRUE(first.server->Drain(context_).ok());
    }
    EXPECT_TRUE(client->Do(context_, {.method = "GET", .target = "/"})
                    .status()
                    .Is(Reason::kServiceUnavailable));
    Loopback second(Answer, {.port = port}, false);
    EXPECT_TRUE(client->Do(context_, {.method = "GET", .target = "/"}).ok());
  }
}

TEST_F(ClientTest, RefusedStreamIsRetried) {
  Loopback good(Answer, {}, false);
  std::atomic<int> refusals = 0;
  const std::string hello = frames::Frame(frames::kSettings, 0, 0, "");
  Scripted server([&](tcp::socket& socket) {
    Write(socket, hello);
    // The request is refused twice (as streams 1 and 3), then answered.
    for (const uint32_t stream : {1, 3, 5}) {
      char buffer[4096];
      std::string seen;
      boost::system::error_code error;
      const auto has_request = [&] {
        return seen.find(std::string("\x01\x05\0\0\0", 5) + static_cast<char>(stream)) !=
               std::string::npos;
      };
      while (!error && !has_request()) {
        seen.append(buffer, socket.read_some(boost::asio::buffer(buffer), error));
      }
      if (stream < 5) {
        ++refusals;
        Write(socket, frames::Frame(frames::kRstStream, 0, stream, frames::Number(7)));
      } else {
        Write(socket, frames::Frame(frames::kHeaders, 5, stream, frames::Field(":status", "204")));
      }
    }
    ReadAll(socket);
  });
  auto client = Plain(server.port(), true);
  auto response = client->Do(context_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(response.ok()) << response.status().ToString();
  EXPECT_EQ(response->status, 204);
  EXPECT_EQ(refusals, 2);
  client.reset();
}

TEST_F(ClientTest, ConnectionIsClosedWhenPingsAreNotAnswered) {
  Scripted server([](tcp::socket& socket) {
    Write(socket, frames::Frame(frames::kSettings, 0, 0, ""));
    ReadAll(socket);
  });
  auto client = Plain(server.port(), true, 60ms);
  const auto response = client->Do(context_, {.method = "GET", .target = "/"});
  EXPECT_TRUE(response.status().Is(Reason::kServiceUnavailable));
  EXPECT_THAT(response.status().message(), HasSubstr("pings"));
}

TEST_F(ClientTest, CanceledBlockedRequestDoesNotBlockTheNext) {
  std::promise<void> begun;
  std::promise<void> end;
  Scripted server([&](tcp::socket& socket) {  // further connections are refused
    char first = 0;
    boost::system::error_code ignored;
    socket.read_some(boost::asio::buffer(&first, 1), ignored);
    begun.set_value();
    end.get_future().wait();
  });
  auto client = Plain(server.port(), false);
  Context canceled = context_.Child();
  std::thread canceler([&] {
    begun.get_future().wait();
    canceled.Stop();
  });
  Request large{.method = "POST", .target = "/"};
  large.body.resize(30'000'000, 'x');
  EXPECT_EQ(client->Do(canceled, std::move(large)).status(), Context::Canceled());
  canceler.join();
  const auto next = client->Do(context_, {.method = "GET", .target = "/"});
  EXPECT_TRUE(next.status().Is(Reason::kServiceUnavailable)) << next.status().ToString();
  end.set_value();
}

TEST_F(ClientTest, RefusedConnectionIsUnavailable) {
  // A bound port without a listener.
  boost::asio::io_context io;
  tcp::acceptor taken(io, tcp::v4());
  taken.bind({boost::asio::ip::address_v4::loopback(), 0});
  const auto client = Plain(taken.local_endpoint().port(), true);
  const auto response = client->Do(context_, {.method = "POST", .target = "/"});
  EXPECT_TRUE(response.status().Is(Reason::kServiceUnavailable));
  EXPECT_TRUE(NotSent(response.status()));
}

// No endless retries: the next attempt would fail the same way.
TEST_F(ClientTest, ConnectionClosedBeforeSettingsIsUnavailable) {
  Scripted server([](tcp::socket& socket) { socket.close(); });
  const auto client = Plain(server.port(), true);
  const auto response = client->Do(context_, {.method = "POST", .target = "/"});
  EXPECT_TRUE(response.status().Is(Reason::kServiceUnavailable));
  EXPECT_TRUE(NotSent(response.status()));
}

TEST_F(ClientTest, SilentServerCausesConnectTimeout) {
  Scripted server([](tcp::socket& socket) { ReadAll(socket); });
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = server.port();
  options.tls = false;
  options.connect_timeout = 40ms;
  const auto client = *Client::Create(context_, options);
  const auto response = client->Do(context_, {.method = "POST", .target = "/"});
  EXPECT_THAT(response.status().message(), HasSubstr("i/o timeout"));
  EXPECT_TRUE(NotSent(response.status()));
}

TEST_F(ClientTest, NotSentMarksRequestsTheServerDidNotProcess) {
  struct Case {
    const char* name;
    std::string answer;  // to the request on stream 1
    bool not_sent;
  };
  const Case cases[] = {
      {"goodbye before the request", frames::Frame(frames::kGoAway, 0, 0, std::string(8, '\0')),
       true},
      {"goodbye after the request",
       frames::Frame(frames::kGoAway, 0, 0, frames::Number(1) + frames::Number(0)), false},
      {"cut", "", false},
      {"reset", frames::Frame(frames::kRstStream, 0, 1, frames::Number(2)), false},
  };
  for (const Case& c : cases) {
    Scripted server([&](tcp::socket& socket) {
      Write(socket, frames::Frame(frames::kSettings, 0, 0, ""));
      std::string seen;
      boost::system::error_code error;
      char buffer[4096];
      while (!error && seen.find(std::string("\x01\x04\0\0\0\x01", 6)) == std::string::npos &&
             seen.find(std::string("\x01\x05\0\0\0\x01", 6)) == std::string::npos) {
        seen.append(buffer, socket.read_some(boost::asio::buffer(buffer), error));
      }
      Write(socket, c.answer);
      socket.close();
    });
    const auto client = Plain(server.port(), true);
    const auto response = client->Do(context_, {.method = "POST", .target = "/", .body = "in"});
    EXPECT_TRUE(response.status().Is(Reason::kServiceUnavailable)) << c.name;
    EXPECT_EQ(NotSent(response.status()), c.not_sent) << c.name << response.status().ToString();
  }
}

TEST_F(ClientTest, IdleConnectionIsClosedAfterTimeout) {
  std::latch closed(1);
  Scripted server([&](tcp::socket& socket) {
    char buffer[4096];
    boost::system::error_code error;
    socket.read_some(boost::asio::buffer(buffer), error);
    Write(socket, "HTTP/1.1 204 No Content\r\n\r\n");
    ReadAll(socket);
    closed.count_down();
  });
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = server.port();
  options.tls = false;
  options.http2 = false;
  options.idle_timeout = 20ms;
  const auto client = *Client::Create(context_, options);
  EXPECT_TRUE(client->Do(context_, {.method = "GET", .target = "/"}).ok());
  closed.wait();  // by the client, which still exists
}

TEST_F(ClientTest, ConnectionThatIsUsedBetweenChecksIsNotIdle) {
  constexpr int kRequests = 20;
  Scripted server([&](tcp::socket& socket) {
    char buffer[4096];
    boost::system::error_code error;
    for (int i = 0; i < kRequests && !error; ++i) {
      socket.read_some(boost::asio::buffer(buffer), error);
      Write(socket, "HTTP/1.1 204 No Content\r\n\r\n");
    }
    ReadAll(socket);
  });
  TestClock clock;
  const Context context(clock);
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = server.port();
  options.tls = false;
  options.http2 = false;
  options.idle_timeout = 100s;
  {
    const auto client = *Client::Create(context, options);
    for (int i = 0; i < kRequests; ++i) {
      // The server accepts one connection only.
      ASSERT_TRUE(client->Do(context_, {.method = "GET", .target = "/"}).ok()) << i;
      clock.Advance(30s);
    }
  }
}

TEST_F(ClientTest, MalformedResponsesAreUnavailable) {
  const std::string cases[] = {
      "",
      "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
      "what?\r\n\r\n",
  };
  for (const std::string& answer : cases) {
    Scripted server([&](tcp::socket& socket) {
      char buffer[4096];
      boost::system::error_code error;
      socket.read_some(boost::asio::buffer(buffer), error);
      Write(socket, answer);
    });
    const auto client = Plain(server.port(), false);
    EXPECT_TRUE(client->Do(context_, {.method = "POST", .target = "/"})
                    .status()
                    .Is(Reason::kServiceUnavailable))
        << answer;
  }
}

TEST_F(ClientTest, BodyWithoutLengthEndsWhenConnectionCloses) {
  Scripted server([](tcp::socket& socket) {
    char buffer[4096];
    boost::system::error_code error;
    socket.read_some(boost::asio::buffer(buffer), error);
    Write(socket, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall of it");
  });
  const auto client = Plain(server.port(), false);
  auto response = client->Do(context_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(response.ok()) << response.status().ToString();
  EXPECT_EQ(TextOf(*response), "all of it");
}

TEST_F(ClientTest, ResponseAboveSizeLimitIsRejected) {
  Loopback loopback(Answer);
  ClientOptions options = loopback.Options(true);
  options.max_response_bytes = 999;
  EXPECT_TRUE(loopback.MakeClient(options)
                  ->Do(loopback.context, {.method = "GET", .target = "/"})
                  .status()
                  .Is(Reason::kRequestEntityTooLarge));
}

TEST_F(ClientTest, HeadHasNoBodyAndKeepsConnectionAlive) {
  Loopback loopback(Answer);
  for (const bool http2 : {true, false}) {
    const auto client = loopback.MakeClient(http2);
    for (int i = 0; i < 3; ++i) {
      auto response = client->Do(loopback.context, {.method = "HEAD", .target = "/"});
      ASSERT_TRUE(response.ok()) << response.status().ToString();
      EXPECT_EQ(response->headers.Get("content-length"), "1000");
      EXPECT_TRUE(response->body.empty());
    }
    EXPECT_EQ(client->connections(), 1U);
  }
}

TEST_F(ClientTest, TargetWithControlCharactersIsRejected) {
  Loopback loopback(Answer);
  const auto client = loopback.MakeClient(false);
  EXPECT_TRUE(client->Do(loopback.context, {.method = "GET", .target = "/ HTTP/1.1\r\nx: y"})
                  .status()
                  .Is(Reason::kBadRequest));
}

TEST_F(ClientTest, ReadingStreamOfDestroyedClientIsUnavailable) {
  Loopback loopback(Answer);
  auto client = loopback.MakeClient(true);
  auto watch = client->Start(loopback.context, {.method = "GET", .target = "/watch"});
  ASSERT_TRUE(watch.ok());
  client.reset();
  EXPECT_TRUE((*watch)->Read(loopback.context).status().Is(Reason::kServiceUnavailable));
}

// The loop closes the connection pool of a destroyed client, but this thread may be the one that
// deletes the pool, while functions that the pool has posted are running on the loop. A sanitizer
// reports functions that use the pool then.
TEST_F(ClientTest, LoopServesFurtherClientsAfterOthersAreDestroyed) {
  Loopback loopback(Answer, {}, /*tls=*/false);
  const auto loop = StartEventLoop(loopback.context, "clients");
  ASSERT_TRUE(loop.ok()) << loop.status().ToString();
  for (int i = 0; i < 200; ++i) {
    ClientOptions options = loopback.Options(true);
    options.loop = *loop;
    const auto client = loopback.MakeClient(options);
    EXPECT_TRUE(client->Do(loopback.context, {.target = "/"}).ok());
  }
  StopEventLoop(**loop);
}

TEST_F(ClientTest, StreamIsReadWithoutBlocking) {
  Loopback loopback(Answer);
  auto client = loopback.MakeClient(true);
  auto whole = client->Start(loopback.context, {.method = "GET", .target = "/"});
  ASSERT_TRUE(whole.ok());
  size_t size = 0;
  for (bool ended = false; !ended;) {
    std::promise<void> ready;
    auto piece = (*whole)->TryRead([&] { ready.set_value(); });
    ASSERT_TRUE(piece.ok()) << piece.status().ToString();
    if (!*piece) {
      ready.get_future().wait();
      continue;
    }
    size += (*piece)->size();
    ended = (*piece)->empty();
  }
  EXPECT_EQ(size, 1000U);
  auto watch = client->Start(loopback.context, {.method = "GET", .target = "/watch"});
  ASSERT_TRUE(watch.ok());
  std::promise<void> broken;
  auto piece = (*watch)->TryRead([&] { broken.set_value(); });
  ASSERT_TRUE(piece.ok());
  EXPECT_FALSE(piece->has_value());
  client.reset();
  broken.get_future().wait();
  EXPECT_TRUE((*watch)->TryRead([] {}).status().Is(Reason::kServiceUnavailable));
}

}  // namespace
}  // namespace cox::net

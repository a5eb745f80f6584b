// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ssl.hpp>

#include "net/client/not_sent.h"
#include "net/testing/loopback.h"
#include "net/testing/relay.h"

namespace cox::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void Answer(const ExchangePtr& exchange) {
  exchange->Send({.body = {Bytes(std::string(300'000, 'x'))}});
}

// A TLS terminator in front of another server; together with a Relay it is an HTTPS proxy. Runs on
// one thread.
class TlsFront {
 public:
  using Tcp = boost::asio::ip::tcp;

  TlsFront(const CertificatePair& certificate, uint16_t behind)
      : acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}), behind_(behind) {
    tls_.use_certificate_chain(boost::asio::buffer(certificate.certificate_pem));
    tls_.use_private_key(boost::asio::buffer(certificate.key_pem), boost::asio::ssl::context::pem);
    Accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~TlsFront() {
    io_.stop();
    thread_.join();
  }
  uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  struct Pair {
    Pair(boost::asio::io_context& io, boost::asio::ssl::context& tls) : front(io, tls), back(io) {}
    boost::asio::ssl::stream<Tcp::socket> front;
    Tcp::socket back;
    char there[16 * 1024];
    char here[16 * 1024];
  };

  void Accept() {
    auto pair = std::make_shared<Pair>(io_, tls_);
    acceptor_.async_accept(pair->front.lowest_layer(), [this, pair](auto error) {
      if (error) return;
      Accept();
      pair->front.async_handshake(boost::asio::ssl::stream_base::server, [this, pair](auto failed) {
        if (failed) return;
        pair->back.connect({boost::asio::ip::address_v4::loopback(), behind_}, failed);
        if (failed) return;
        Pump(pair, pair->front, pair->back, pair->there);
        Pump(pair, pair->back, pair->front, pair->here);
      });
    });
  }

  template <class From, class To>
  void Pump(std::shared_ptr<Pair> pair, From& from, To& to, char (&buffer)[16 * 1024]) {
    from.async_read_some(
        boost::asio::buffer(buffer), [this, pair, &from, &to, &buffer](auto error, size_t size) {
          if (error) return pair->back.close();
          boost::asio::async_write(to, boost::asio::buffer(buffer, size),
                                   [this, pair, &from, &to, &buffer](auto failed, size_t) {
                                     if (failed) return pair->back.close();
                                     Pump(pair, from, to, buffer);
                                   });
        });
  }

  boost::asio::io_context io_;
  boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_server};
  Tcp::acceptor acceptor_;
  const uint16_t behind_;
  std::thread thread_;
};

class ProxyTest : public testing::Test {
 protected:
  // Returns the size of the response, or the error in parentheses.
  std::string Ask(const Loopback& server, bool http2, Proxy proxy, std::string host = "127.0.0.1") {
    ClientOptions options = server.Options(http2);
    options.host = std::move(host);
    options.proxy = std::move(proxy);
    options.proxy->host = "127.0.0.1";
    const auto client = Client::Create(context_, options);
    if (!client.ok()) return "(" + client.status().ToString() + ")";
    const auto response = (*client)->Do(context_, {.method = "POST", .target = "/", .body = "in"});
    if (!response.ok()) {
      EXPECT_TRUE(NotSent(response.status())) << response.status().ToString();
      return "(" + response.status().ToString() + ")";
    }
    return std::to_string(TextOf(*response).size());
  }

  RealClock clock_;
  Context context_ = Context(clock_).WithTimeout(std::chrono::seconds(60));
};

TEST_F(ProxyTest, ConnectsThroughHttpAndSocks5Proxies) {
  for (const bool tls : {true, false}) {
    Loopback server(Answer, {}, tls);
    const uint16_t port = server.server->port();
    for (const bool http2 : {true, false}) {
      Relay http({.handshake = Relay::Handshake::kConnect, .port = port});
      EXPECT_EQ(Ask(server, http2, {.kind = Proxy::Kind::kHttp, .port = http.port()}), "300000");
      EXPECT_THAT(
          http.handshakes(),
          ElementsAre(StartsWith("CONNECT 127.0.0.1:" + std::to_string(port) + " HTTP/1.1")));
      Relay socks({.handshake = Relay::Handshake::kSocks5, .port = port});
      EXPECT_EQ(Ask(server, http2, {.kind = Proxy::Kind::kSocks5, .port = socks.port()}), "300000");
      EXPECT_THAT(socks.handshakes(), ElementsAre("127.0.0.1:" + std::to_string(port)));
    }
  }
}

TEST_F(ProxyTest, ConnectsThroughHttpsProxy) {
  Loopback server(Answer);
  Relay http({.handshake = Relay::Handshake::kConnect, .port = server.server->port()});
  TlsFront front(server.certificate, http.port());
  for (const bool http2 : {true, false}) {
    EXPECT_EQ(Ask(server, http2, {.kind = Proxy::Kind::kHttps, .port = front.port()}), "300000");
  }
  // The proxy's certificate is verified.
  TlsFront other(
      Loopback::Made({.common_name = "localhost", .ip_addresses = {"127.0.0.1"}}, nullptr),
      http.port());
  EXPECT_THAT(Ask(server, true, {.kind = Proxy::Kind::kHttps, .port = other.port()}),
              HasSubstr("proxy 127.0.0.1:" + std::to_string(other.port()) + ": TLS handshake"));
}

TEST_F(ProxyTest, ProxyResolvesHostNames) {
  Loopback server(Answer);
  Relay http({.handshake = Relay::Handshake::kConnect, .port = server.server->port()});
  Relay socks({.handshake = Relay::Handshake::kSocks5, .port = server.server->port()});
  // The certificate is for another name; reaching the name check is sufficient.
  EXPECT_THAT(Ask(server, true, {.kind = Proxy::Kind::kHttp, .port = http.port()}, "no.such.host"),
              HasSubstr("hostname mismatch"));
  EXPECT_THAT(http.handshakes(), ElementsAre(StartsWith("CONNECT no.such.host:")));
  EXPECT_THAT(
      Ask(server, true, {.kind = Proxy::Kind::kSocks5, .port = socks.port()}, "no.such.host"),
      HasSubstr("hostname mismatch"));
  EXPECT_THAT(socks.handshakes(), ElementsAre(StartsWith("no.such.host:")));
}

TEST_F(ProxyTest, SendsCredentials) {
  Loopback server(Answer);
  Relay http({.handshake = Relay::Handshake::kConnect, .port = server.server->port()});
  const auto as_joe = [](Proxy::Kind kind, uint16_t port) {
    return Proxy{
        .kind = kind, .port = port, .username = "joe", .password = Secret<std::string>("sesame")};
  };
  EXPECT_EQ(Ask(server, true, as_joe(Proxy::Kind::kHttp, http.port())), "300000");
  EXPECT_THAT(http.handshakes(),
              ElementsAre(HasSubstr("\r\nproxy-authorization: Basic am9lOnNlc2FtZQ==\r\n")));
  Relay socks({.handshake = Relay::Handshake::kSocks5,
               .port = server.server->port(),
               .socks_password = true});
  EXPECT_EQ(Ask(server, true, as_joe(Proxy::Kind::kSocks5, socks.port())), "300000");
  EXPECT_THAT(socks.handshakes(), ElementsAre(StartsWith("joe:sesame 127.0.0.1:")));
  // Without a password, the error contains a hint.
  EXPECT_THAT(Ask(server, true, {.kind = Proxy::Kind::kSocks5, .port = socks.port()}),
              HasSubstr("put user:password@ into its URL"));
}

TEST_F(ProxyTest, ReportsProxyErrorsAndSendsNothing) {
  Loopback server(Answer);
  struct Case {
    Proxy::Kind kind;
    const char* answer;
    unsigned char reply;
    const char* says;
  };
  const Case cases[] = {
      {Proxy::Kind::kHttp, "HTTP/1.1 403 Forbidden\r\nx: y\r\n\r\n", 0, "HTTP/1.1 403 Forbidden"},
      {Proxy::Kind::kHttp, "HTTP/1.1 407 Login\r\n\r\n", 0, "put user:password@ into its URL"},
      {Proxy::Kind::kHttp, "SSH-2.0 what\x01\r\n\r\n", 0, "SSH-2.0 what?"},
      {Proxy::Kind::kSocks5, "", 2, "not allowed by its rules"},
      {Proxy::Kind::kSocks5, "", 5, "connection refused"},
      {Proxy::Kind::kSocks5, "", 99, "unknown failure"},
  };
  for (const Case& c : cases) {
    const bool socks = c.kind == Proxy::Kind::kSocks5;
    Relay relay({.handshake = socks ? Relay::Handshake::kSocks5 : Relay::Handshake::kConnect,
                 .port = server.server->port(),
                 .connect_answer = c.answer,
                 .socks_reply = c.reply});
    const std::string text = Ask(server, true,
                                 {.kind = c.kind,
                                  .port = relay.port(),
                                  .username = "joe",
                                  .password = Secret<std::string>("sesame")});
    EXPECT_THAT(text, HasSubstr("ServiceUnavailable: proxy 127.0.0.1:")) << c.says;
    EXPECT_THAT(text, HasSubstr(c.says));
    EXPECT_THAT(text, Not(HasSubstr("sesame")));
  }
  EXPECT_EQ(server.server->stats().requests, 0U);
}

TEST_F(ProxyTest, RejectsOversizedProxyResponse) {
  Loopback server(Answer);
  Relay relay({.handshake = Relay::Handshake::kConnect,
               .port = server.server->port(),
               .connect_answer = "HTTP/1.1 200 OK\r\nx: " + std::string(100'000, 'y')});
  EXPECT_THAT(Ask(server, true, {.port = relay.port()}), HasSubstr("not answer as a proxy does"));
}

TEST_F(ProxyTest, UnreachableProxyIsNamedInError) {
  Loopback server(Answer);
  // A bound port without a listener.
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor taken(io, boost::asio::ip::tcp::v4());
  taken.bind({boost::asio::ip::address_v4::loopback(), 0});
  const uint16_t port = taken.local_endpoint().port();
  EXPECT_THAT(Ask(server, true, {.port = port}),
              HasSubstr("proxyconnect tcp: dial tcp 127.0.0.1:" + std::to_string(port) +
                        ": connect: connection refused"));
}

}  // namespace
}  // namespace cox::net

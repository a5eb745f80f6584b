// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/scope.h"
#include "net/tcp.h"
#include "net/testing/http2_frames.h"
#include "net/tls.h"
#include "net/tls/openssl.h"
#include "net/tls/tls_engine.h"

namespace cox::net {

// The bytes that a hostile server sends when a client has connected and has sent something.
struct Hostility {
  std::string name;
  // HTTP/2: sent when the client has sent its preface. The rest follows when it has sent a request.
  std::string greeting;
  std::string first;   // sent once
  std::string repeat;  // sent until the client closes the connection; empty: nothing more
  // After `first`: closes the connection instead of being silent.
  bool hangs_up = false;
  // Sends `repeat` byte by byte, with pauses.
  bool slowly = false;
  // A correct client cannot detect it and waits until its deadline.
  bool needs_deadline = false;
  std::string_view protocol = "http/1.1";  // negotiated with TLS
};

// Responses of a hostile HTTP/1.1 server.
inline std::vector<Hostility> HostileHttp1() {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string field = "x-a: " + std::string(1000, 'a') + "\r\n";
  return {
      {.name = "EndlessStatusLine", .first = "HTTP/1.1 200 ", .repeat = std::string(1000, 'a')},
      {.name = "EndlessHeaders", .first = ok, .repeat = field},
      {.name = "EndlessHeaderLine", .first = ok + "x-a: ", .repeat = std::string(1000, 'a')},
      {.name = "EndlessInterimResponses", .repeat = "HTTP/1.1 103 Early Hints\r\n\r\n"},
      {.name = "EndlessChunkExtension", .first = chunked + "5;", .repeat = std::string(1000, 'a')},
      {.name = "EndlessTrailers", .first = chunked + "0\r\n", .repeat = field},
      {.name = "EndlessTrailerLine",
       .first = chunked + "0\r\nx-a: ",
       .repeat = std::string(1000, 'a')},
      {.name = "Garbage", .first = std::string(1000, '\xff')},
      {.name = "HangUp", .hangs_up = true},
      {.name = "HangUpInHeaders", .first = ok + "x-a: ", .hangs_up = true},
      {.name = "HangUpInChunk", .first = chunked + "5\r\nab", .hangs_up = true},
      {.name = "Silence", .needs_deadline = true},
      {.name = "SilenceInHeaders", .first = ok, .needs_deadline = true},
      {.name = "SlowHeaders",
       .first = ok + "x-a: ",
       .repeat = "a",
       .slowly = true,
       .needs_deadline = true},
  };
}

// A response that is regular, except that its body has no end.
inline Hostility EndlessHttp1Body() {
  return {.name = "EndlessBody",
          .first = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
          .repeat = std::string(1000, ' ')};
}

// Responses of a hostile HTTP/2 server, for stream 1.
inline std::vector<Hostility> HostileHttp2() {
  using frames::Field;
  using frames::Frame;
  const std::string hello = Frame(frames::kSettings, 0, 0, "");
  const std::string status = Field(":status", "200");
  const std::string large = Field("x-a", std::string(4000, 'a'));
  // Adds an entry of 4 KB to the dynamic table; each further byte repeats it.
  const std::string entry = '\x40' + frames::Text("x-a") + frames::Text(std::string(4000, 'a'));
  const std::string bomb(16'000, '\xbe');
  const std::string headers = Frame(frames::kHeaders, frames::kEndHeaders, 1, status);
  std::vector<Hostility> all = {
      {.name = "HpackBomb",
       .greeting = hello,
       .first = Frame(frames::kHeaders, 0, 1, status + entry),
       .repeat = Frame(frames::kContinuation, 0, 1, bomb)},
      {.name = "HpackBombInOneFrame",
       .greeting = hello,
       .first = Frame(frames::kHeaders, frames::kEndHeaders, 1, status + entry + bomb)},
      {.name = "HpackBombInTrailers",
       .greeting = hello,
       .first = headers,
       .repeat =
           Frame(frames::kHeaders, frames::kEndHeaders | frames::kEndStream, 1, entry + bomb)},
      {.name = "EndlessContinuation",
       .greeting = hello,
       .first = Frame(frames::kHeaders, 0, 1, status),
       .repeat = Frame(frames::kContinuation, 0, 1, large)},
      {.name = "EndlessInterimResponses",
       .greeting = hello,
       .repeat = Frame(frames::kHeaders, frames::kEndHeaders, 1, Field(":status", "103"))},
      {.name = "EndlessPings",
       .greeting = hello,
       .repeat = Frame(frames::kPing, 0, 0, "12345678"),
       .needs_deadline = true},
      {.name = "EndlessSettings",
       .greeting = hello,
       .repeat = Frame(frames::kSettings, 0, 0, ""),
       .needs_deadline = true},
      {.name = "FrameThatIsTooLarge",
       .greeting = hello,
       .first = Frame(frames::kData, 0, 1, std::string(100'000, 'a'))},
      {.name = "Garbage", .first = std::string(1000, '\xff')},
      {.name = "ResponseWithoutRequest", .first = hello + headers},
      {.name = "Reset",
       .greeting = hello,
       .first = Frame(frames::kRstStream, 0, 1, frames::Number(2))},
      {.name = "GoAway",
       .greeting = hello,
       .first = Frame(frames::kGoAway, 0, 0, frames::Number(0) + frames::Number(0))},
      {.name = "HangUp", .hangs_up = true},
      {.name = "HangUpAfterHeaders", .greeting = hello, .first = headers, .hangs_up = true},
      {.name = "SilenceBeforeSettings", .needs_deadline = true},
      {.name = "Silence", .greeting = hello, .needs_deadline = true},
  };
  for (Hostility& each : all) each.protocol = "h2";
  return all;
}

// How clients connect to a hostile server.
enum class HostileTransport { kTcp, kTls, kUnix };

// One connection of a hostile server.
class HostileConnection {
 public:
  explicit HostileConnection(std::unique_ptr<TcpSocket> socket) : socket_(std::move(socket)) {}

  // Must be called before the others if the transport is kTls.
  bool Handshake(const Context& ctx, SSL_CTX* context) {
    SslPtr ssl(SSL_new(context));
    SSL_set_accept_state(ssl.get());
    tls_ = std::make_unique<TlsEngine>(std::move(ssl));
    while (true) {
      std::string output;
      std::string_view input = received_;
      const TlsEngine::State state = tls_->Handshake(&input, &output);
      received_ = std::string(input);
      if (!output.empty() && !socket_->Write(ctx, output).ok()) return false;
      if (state != TlsEngine::State::kWantMore) return state == TlsEngine::State::kOk;
      if (!Receive(ctx)) return false;
    }
  }

  // Empty at the end.
  std::string Read(const Context& ctx) {
    while (true) {
      if (tls_ == nullptr) {
        if (received_.empty() && !Receive(ctx)) return {};
        return std::exchange(received_, {});
      }
      char plain[4096];
      size_t size = 0;
      std::string output;
      std::string_view input = received_;
      const TlsEngine::State state = tls_->Read(&input, &output, plain, sizeof plain, &size);
      received_ = std::string(input);
      if (state == TlsEngine::State::kOk) return {plain, size};
      if (state != TlsEngine::State::kWantMore || !Receive(ctx)) return {};
    }
  }

  bool Write(const Context& ctx, std::string_view bytes) {
    if (tls_ == nullptr) return socket_->Write(ctx, bytes).ok();
    std::string output;
    return tls_->Write(bytes, &output) == TlsEngine::State::kOk && socket_->Write(ctx, output).ok();
  }

 private:
  bool Receive(const Context& ctx) {
    char buffer[4096];
    const Result<size_t> size = socket_->Read(ctx, buffer, sizeof buffer);
    if (!size.ok() || *size == 0) return false;
    received_.append(buffer, *size);
    return true;
  }

  const std::unique_ptr<TcpSocket> socket_;
  std::unique_ptr<TlsEngine> tls_;
  std::string received_;
};

// A server that sends what a Hostility says to every client. It stops at kMaxSent bytes for each
// connection, so that a client without limits fails its test instead of filling the memory.
class HostileServer {
 public:
  static constexpr size_t kMaxSent = size_t{256} * 1024 * 1024;

  HostileServer(const Context& ctx, Hostility hostility,
                HostileTransport transport = HostileTransport::kTcp)
      : hostility_(std::move(hostility)), scope_(ctx, "hostile-server") {
    if (transport == HostileTransport::kUnix) {
      listener_ = ListenAt(path());
    } else {
      listener_ = *TcpListener::Listen("127.0.0.1", 0);
    }
    if (transport == HostileTransport::kTls) MakeTls();
    Go([this](Context& own) { Accept(own); });
  }
  ~HostileServer() {
    scope_.Stop();
    scope_.Wait();
    ::unlink(path().c_str());
  }

  uint16_t port() const { return listener_->port(); }
  // The path of the Unix socket.
  std::string path() const {
    return testing::TempDir() + "hostile-" + std::to_string(::getpid()) + ".sock";
  }
  const std::string& ca_pem() const { return ca_.certificate_pem; }
  // The most bytes that a client has received on a connection, with those in the kernel's buffers.
  size_t sent() const { return sent_; }

 private:
  static std::unique_ptr<TcpListener> ListenAt(const std::string& path) {
    ::unlink(path.c_str());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    COX_CHECK(path.size() < sizeof address.sun_path);
    path.copy(address.sun_path, path.size());
    COX_CHECK(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    COX_CHECK(::listen(fd, 16) == 0);
    return std::make_unique<TcpListener>(fd, 0);
  }

  void MakeTls() {
    const auto made = [](const CertificateRequest& request, const CertificatePair* issuer) {
      auto pair = MakeCertificate(request, issuer);
      COX_CHECK_OK(pair.status());
      return *std::move(pair);
    };
    ca_ = made({.common_name = "hostile-ca", .is_ca = true}, nullptr);
    const CertificatePair own =
        made({.common_name = "hostile", .ip_addresses = {"127.0.0.1"}}, &ca_);
    const auto parsed = ParseCertificatePair(own.certificate_pem, own.key_pem);
    COX_CHECK_OK(parsed.status());
    tls_.reset(SSL_CTX_new(TLS_server_method()));
    COX_CHECK(SSL_CTX_use_certificate(tls_.get(), parsed->leaf.get()) == 1 &&
              SSL_CTX_use_PrivateKey(tls_.get(), parsed->key.get()) == 1);
    SSL_CTX_set_alpn_select_cb(tls_.get(), ChooseProtocol, this);
  }
  static int ChooseProtocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* size,
                            const unsigned char* /*offered*/, unsigned int /*offered_size*/,
                            void* self) {
    const std::string_view protocol = static_cast<HostileServer*>(self)->hostility_.protocol;
    *out = reinterpret_cast<const unsigned char*>(protocol.data());
    *size = static_cast<unsigned char>(protocol.size());
    return SSL_TLSEXT_ERR_OK;
  }

  void Go(std::function<void(Context&)> work) {
    static_cast<void>(scope_.Go("hostile", std::move(work)));
  }

  void Accept(Context& ctx) {
    while (true) {
      Result<std::unique_ptr<TcpSocket>> socket = listener_->Accept(ctx);
      if (!socket.ok()) return;
      Go([this, client = std::make_shared<HostileConnection>(*std::move(socket))](Context& own) {
        if (tls_ == nullptr || client->Handshake(own, tls_.get())) Serve(own, *client);
      });
    }
  }

  void Serve(Context& ctx, HostileConnection& client) {
    const std::string request = client.Read(ctx);
    if (request.empty()) return;
    if (!hostility_.greeting.empty() && !Greet(ctx, client, request)) return;
    size_t sent = 0;
    const auto send = [&](std::string_view bytes) {
      if (!client.Write(ctx, bytes)) return false;
      sent += bytes.size();
      size_t most = sent_;
      while (sent > most && !sent_.compare_exchange_weak(most, sent)) {
      }
      return sent < kMaxSent;
    };
    if (!hostility_.first.empty() && !send(hostility_.first)) return;
    if (hostility_.hangs_up) return;
    std::string repeat = hostility_.repeat;
    // Large writes: the test is about bytes, not about system calls.
    while (!repeat.empty() && !hostility_.slowly && repeat.size() < 16'384) repeat += repeat;
    while (!repeat.empty() && send(repeat)) {
      if (hostility_.slowly && !ctx.Sleep(std::chrono::milliseconds(2)).ok()) return;
    }
    // Keeps the connection open until the client closes it.
    while (!client.Read(ctx).empty()) {
    }
  }

  // Returns when the client has sent a request; false if it closed the connection.
  bool Greet(Context& ctx, HostileConnection& client, std::string received) {
    if (!client.Write(ctx, hostility_.greeting)) return false;
    while (true) {
      const size_t preface = std::min(received.size(), frames::kPreface.size());
      for (const frames::Parsed& frame : frames::Parse(received.substr(preface))) {
        if (frame.type == frames::kHeaders) return true;
      }
      const std::string more = client.Read(ctx);
      if (more.empty()) return false;
      received += more;
    }
  }

  const Hostility hostility_;
  std::unique_ptr<TcpListener> listener_;
  CertificatePair ca_;
  SslContextPtr tls_;
  std::atomic<size_t> sent_ = 0;
  Scope scope_;
};

// Makes one call to a hostile server for each of the hostilities. Checks that it ends, with an
// error if it has one, without waiting for its deadline where that is not necessary, and that the
// client has not read more than `most` bytes.
inline void ExpectLimits(
    const std::vector<Hostility>& hostilities, HostileTransport transport,
    const std::function<Status(Context& ctx, const HostileServer& server)>& call,
    size_t most = size_t{32} * 1024 * 1024) {
  RealClock clock;
  const Context root(clock);
  for (const Hostility& hostility : hostilities) {
    SCOPED_TRACE(hostility.name);
    const HostileServer server(root, hostility, transport);
    // Without a deadline of its own, a call to a silent server would not end.
    Context ctx = root.WithTimeout(hostility.needs_deadline ? std::chrono::milliseconds(300)
                                                            : std::chrono::seconds(60));
    const Status status = call(ctx, server);
    EXPECT_FALSE(status.ok());
    if (!hostility.needs_deadline) {
      EXPECT_FALSE(ctx.Done()) << "waited for the deadline: " << status.ToString();
    }
    EXPECT_LT(server.sent(), most);
  }
}

}  // namespace cox::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "base/secret.h"
#include "net/http.h"
#include "net/tls.h"

namespace cox::net {

// A response whose body is read as it comes. Dropping it cancels the request.
class ClientStream {
 public:
  virtual ~ClientStream() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  // The next piece; empty at the end. Unavailable if the connection broke, the context's reason if
  // that stopped first.
  virtual Result<Bytes> Read(Context& ctx) = 0;
};

// Receives a response as it comes, without a thread of its own: for whoever has thousands of them.
// Called on the client's loop thread, in this order; must not block.
class ResponseObserver {
 public:
  virtual ~ResponseObserver() = default;
  virtual void OnHeaders(int status, Headers headers) = 0;
  virtual void OnData(std::string_view bytes) = 0;
  // The last call. OK at the end of the body; else as ClientStream::Read.
  virtual void OnEnd(const Status& status) = 0;
};

// A request that an observer waits for. Dropping it cancels the request; the observer may still be
// called while that is on its way.
class Observation {
 public:
  virtual ~Observation() = default;
};

// Something that connections go through. Host names are looked up there.
struct Proxy {
  enum class Kind {
    kHttp,   // CONNECT
    kHttps,  // the same over TLS, with the trust of the client's tls_options
    kSocks5,
  };
  Kind kind = Kind::kHttp;
  std::string host;
  uint16_t port = 0;
  std::string username;  // empty: none
  Secret<std::string> password;
};

struct ClientOptions {
  std::string host;
  uint16_t port = 443;
  bool tls = true;
  ClientTls tls_options;
  std::optional<Proxy> proxy;
  bool http2 = true;  // offered by ALPN; without TLS: HTTP/2 with prior knowledge
  // How many are kept open to share the requests. More are made when the server's limit of streams
  // (with HTTP/1.1: one) is reached on all.
  int connections = 1;
  std::chrono::milliseconds connect_timeout{10'000};
  // An HTTP/2 connection on which nothing came for this long is pinged, and closed if the ping is
  // not answered in half that time. 0: never. HTTP/1.1 has only TCP's keep-alive.
  std::chrono::milliseconds ping_after{30'000};
  // A connection that carried no request for this long is closed. 0: never.
  std::chrono::milliseconds idle_timeout{0};
  size_t max_response_bytes = size_t{256} * 1024 * 1024;  // for Do
};

// Talks HTTP/2 or HTTP/1.1 to one server, over connections made when needed and kept.
//
// A request that the server certainly did not look at (refused stream, GOAWAY before it) is sent
//   again on another connection, a few times.
// Threads: all methods may be called concurrently; requests share HTTP/2 connections.
// Errors: Unavailable when no connection can be made or it broke before an answer (then the request
//   may or may not have been executed, unless NotSent(), client/not_sent.h, says that it was not);
//   BadRequest for certificates that do not parse.
class Client {
 public:
  static Result<std::unique_ptr<Client>> Create(const Context& ctx, ClientOptions options);
  virtual ~Client() = default;

  // Request::peer and version are not used; host is added.
  virtual Result<Response> Do(Context& ctx, Request request) = 0;
  // Returns when the headers are there. What is not read closes the stream's window, and the server
  // waits.
  virtual Result<std::unique_ptr<ClientStream>> Start(Context& ctx, Request request) = 0;
  virtual std::unique_ptr<Observation> Observe(Request request,
                                               std::shared_ptr<ResponseObserver> observer) = 0;

  // Connections that are up or being made.
  virtual size_t connections() const = 0;
};

}  // namespace cox::net

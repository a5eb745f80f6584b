// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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

// A response with a streamed body. Destruction cancels the request.
class ClientStream {
 public:
  virtual ~ClientStream() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  // The next piece; empty at the end. Unavailable if the connection broke, the context's error if
  // the context stopped first.
  virtual Result<Bytes> Read(Context& ctx) = 0;
  // As Read, but does not block: nothing if there is no piece yet. Then `ready` is called once, on
  // any thread, when the next call may have a result. It must not block, nor call the stream. The
  // next call replaces it. It may be called after the stream is destroyed: capture weak references.
  // Errors: those of Read; MethodNotAllowed if this stream cannot be read without blocking.
  virtual Result<std::optional<Bytes>> TryRead(const std::function<void()>& ready);
  // The body in another form if the server is in this process and offers it, otherwise null. A
  // caller uses either the content or the reading methods.
  virtual Content* content() { return nullptr; }
};

// Receives a streamed response without a thread per request, for callers with thousands of
// requests. Called on the client's loop thread, in this order; must not block.
class ResponseObserver {
 public:
  virtual ~ResponseObserver() = default;
  virtual void OnHeaders(int status, Headers headers) = 0;
  virtual void OnData(std::string_view bytes) = 0;
  // The last call. OK at the end of the body; otherwise the same errors as ClientStream::Read.
  virtual void OnEnd(const Status& status) = 0;
};

// A request whose response goes to an observer. Destruction cancels the request; the observer may
// still be called until the cancellation reaches the loop.
class Observation {
 public:
  virtual ~Observation() = default;
};

// A proxy that connections go through. The proxy resolves host names.
struct Proxy {
  enum class Kind {
    kHttp,   // CONNECT
    kHttps,  // CONNECT over TLS, verified with the client's tls_options
    kSocks5,
  };
  Kind kind = Kind::kHttp;
  std::string host;
  uint16_t port = 0;
  std::string username;  // empty: none
  Secret<std::string> password;
};

class EventLoop;

// An event loop for ClientOptions::loop, with its own thread.
Result<std::shared_ptr<EventLoop>> StartEventLoop(const Context& ctx, const std::string& name);
// Ends its thread. Calls of clients that use it end without a call of their observers.
void StopEventLoop(EventLoop& loop);

// Reports whether a connection to this IP address may be opened.
using AddressFilter = std::function<bool(const std::string& ip, uint16_t port)>;

struct ClientOptions {
  std::string host;
  uint16_t port = 443;
  bool tls = true;
  ClientTls tls_options;
  std::optional<Proxy> proxy;
  // Applied to the address that is dialled, after the host name was resolved, so that a name cannot
  // resolve differently between check and use. Null: every address is allowed. Not applied if there
  // is a proxy, which resolves the name itself.
  AddressFilter allow_address;
  bool http2 = true;  // offered by ALPN; without TLS: HTTP/2 with prior knowledge
  // Many clients with few requests each can share a loop. Null: the client has its own.
  std::shared_ptr<EventLoop> loop;
  // The number of connections that share the requests. More are opened when all have reached the
  // server's stream limit (HTTP/1.1: one).
  int connections = 1;
  std::chrono::milliseconds connect_timeout{10'000};  // 0: no limit
  // An HTTP/2 connection without input for this long is pinged, and closed if the ping is not
  // acknowledged within half that time. 0: never. HTTP/1.1 relies on TCP keep-alive.
  std::chrono::milliseconds ping_after{30'000};
  // A connection that carried no request for this long is closed. 0: never.
  std::chrono::milliseconds idle_timeout{0};
  size_t max_response_bytes = size_t{256} * 1024 * 1024;  // for Do
  // The limit for one response includes trailers and interim responses.
  size_t max_header_bytes = size_t{256} * 1024;
};

// An HTTP/2 and HTTP/1.1 client for one server. Connections are opened on demand and kept open.
//
// A request that the server certainly did not process (refused stream, GOAWAY with a lower stream
//   ID) is retried a few times on another connection.
// Threads: all methods may be called concurrently; requests share HTTP/2 connections.
// Errors: Unavailable when no connection can be opened or it broke before a response (then the
//   request may or may not have been executed, unless NotSent() of client/not_sent.h is true);
//   BadRequest for certificates that do not parse and for addresses that are not allowed; TooLarge
//   for a response that exceeds a limit.
class Client {
 public:
  static Result<std::unique_ptr<Client>> Create(const Context& ctx, ClientOptions options);
  virtual ~Client() = default;

  // Ignores Request::peer and version; adds the host header.
  virtual Result<Response> Do(Context& ctx, Request request) = 0;
  // Returns when the headers have arrived. Unread body bytes fill the stream's flow-control window,
  // and the server waits.
  virtual Result<std::unique_ptr<ClientStream>> Start(Context& ctx, Request request) = 0;
  virtual std::unique_ptr<Observation> Observe(Request request,
                                               std::shared_ptr<ResponseObserver> observer) = 0;

  // Connections that are open or being opened.
  virtual size_t connections() const = 0;
};

}  // namespace cox::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "net/byte_stream.h"
#include "net/http.h"
#include "net/tls.h"
#include "net/websocket.h"

namespace cox::net {

// One request and its response. Exactly one of Send, Stream, Upgrade and SwitchProtocols must be
// called, from any thread. Dropping the last reference without a response sends 500.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual Request& request() = 0;
  // Stops when the peer has disconnected or the server no longer waits for requests in flight.
  virtual Context& context() = 0;

  virtual void Send(Response response) = 0;
  // Whether the exchange belongs to a connection of an event loop.
  virtual bool has_loop() const { return false; }
  // Runs `work` in a fiber of that loop, see EventLoop::RunFiber. REQUIRES: has_loop()
  virtual void RunFiber(std::function<void()> work);
  // Sends status and headers at once and then the bytes of `source`. The returned Waker resumes the
  // source after it has returned kWait. Waking before the first Pull is allowed and remembered.
  virtual std::shared_ptr<Waker> Stream(int status, Headers headers,
                                        std::unique_ptr<BodySource> source) = 0;
  // Upgrades the connection to a WebSocket with the first of the client's protocols that is in
  // `protocols`. The WebSocket outlives the exchange. BadRequest, with nothing sent, if the request
  // is no WebSocket upgrade or lists none of the protocols: then the caller must respond.
  virtual Result<std::unique_ptr<WebSocket>> Upgrade(const std::vector<std::string>& protocols,
                                                     const WebSocketOptions& options) {
    static_cast<void>(protocols);
    static_cast<void>(options);
    return Status::BadRequest("this connection cannot become a WebSocket");
  }
  // Upgrades the connection to any protocol in the request's "upgrade" header and sends `headers`
  // with the 101; an "upgrade" field in `headers` selects the protocol. The stream outlives the
  // exchange. BadRequest, with nothing sent, if the request has no "upgrade" header.
  virtual Result<std::unique_ptr<ByteStream>> SwitchProtocols(Headers headers) {  // NOLINT: a sink
    static_cast<void>(headers);
    return Status::BadRequest("this connection cannot become another protocol's");
  }
};
using ExchangePtr = std::shared_ptr<Exchange>;

// Called on a loop thread when a request has arrived with its whole body. Must not block; blocking
// work belongs in a worker pool.
using Handler = std::function<void(ExchangePtr)>;

// Limits per server and connection. Defaults match kube-apiserver's (headers 1 MiB and 32 s, idle
// 90 s, 100 streams, 256 KiB per stream).
struct ServerOptions {
  std::string bind_address = "0.0.0.0";
  uint16_t port = 0;   // 0: any free port, see Server::port()
  int listen_fd = -1;  // >= 0: an inherited listening socket instead of address and port
  int loops = 2;       // event loop threads
  std::shared_ptr<const ServerTls> tls;  // null: plain text

  size_t max_body_bytes = size_t{3} * 1024 * 1024;
  // Limit for the headers and bodies of all requests that are still arriving. Beyond it, large
  // requests are rejected with a retriable error; beyond twice the limit, all that are incomplete.
  size_t max_buffered_bytes = size_t{256} * 1024 * 1024;
  size_t max_header_bytes = size_t{1} * 1024 * 1024;
  std::chrono::milliseconds header_timeout{32'000};
  std::chrono::milliseconds handshake_timeout{10'000};
  std::chrono::milliseconds idle_timeout{90'000};
  // A request is aborted if no body bytes arrive for this long.
  std::chrono::milliseconds body_timeout{60'000};
  // A connection is closed if the peer reads nothing of a response for this long.
  std::chrono::milliseconds write_timeout{60'000};
  // Called on the loop thread if the headers of a request have arrived, but not its body; must not
  // block. False: the handler gets the request at once, without the body and with
  // Request::rejected, so that clients without credentials cannot make the server wait and store.
  // Null: all bodies are accepted.
  std::function<bool(const Request&)> accepts_body;
  uint32_t max_streams = 100;           // concurrent streams per HTTP/2 connection
  uint32_t stream_window = 256 * 1024;  // receive window per stream
  size_t max_connections = 65'536;
  size_t max_half_open = 4'096;  // connections still in the TLS handshake
};

// An HTTPS server: TLS 1.2/1.3, HTTP/2 and HTTP/1.1 by ALPN.
//
// A body larger than max_body_bytes is not read further: the handler is called with a Request::body
//   of the limit plus one byte, so that it can send its own 413.
// Threads: all methods may be called concurrently. Handlers run on the loops.
// Lifetime: Start listens and returns; Drain and Stop shut down. The destructor calls Stop.
class Server {
 public:
  static Result<std::unique_ptr<Server>> Start(const Context& ctx, ServerOptions options,
                                               Handler handler);
  virtual ~Server() = default;

  virtual uint16_t port() const = 0;
  // Closes the listener, sends GOAWAY (HTTP/2) and Connection: close (HTTP/1.1), and returns when
  // all requests in flight are answered or `ctx` stops. Streams end when their context stops, see
  // StopStreams.
  virtual Status Drain(Context& ctx) = 0;
  // Ends streaming responses: their contexts stop, their sources are pulled one last time, and the
  // bodies end regularly.
  virtual void StopStreams() = 0;
  // Closes everything and joins the loops.
  virtual void Stop() = 0;

  struct Stats {
    size_t connections = 0;
    size_t streams = 0;
    uint64_t requests = 0;
    uint64_t refused = 0;  // connections closed for abuse or limits
  };
  virtual Stats stats() const = 0;
};

}  // namespace cox::net

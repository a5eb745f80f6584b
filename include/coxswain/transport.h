// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "coxswain/config.h"
#include "net/client.h"
#include "net/server.h"

namespace cox::net {
class WebSocket;
}

namespace cox {

// Sends requests to an API server, over HTTPS or by calls inside the process. Decorators (fault
// injection, metrics) are Transports that wrap a Transport.
//
// Requests contain neither host nor credentials; the transport adds them.
// Threads: all methods may be called concurrently.
// Errors: Unavailable if the server cannot be reached or the connection broke; the request may have
//   been executed unless NotSent() returns true. HTTP error responses, including 500, are returned
//   as responses.
class Transport {
 public:
  virtual ~Transport() = default;

  // Returns the complete response.
  virtual Result<net::Response> Do(Context& ctx, net::Request request) = 0;
  // Returns a response that is read incrementally: a watch, a log, a large list.
  virtual Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) = 0;
  // Opens a WebSocket with one of `protocols`, in order of preference (net/websocket.h). The
  // default implementation returns Unavailable.
  virtual Result<std::unique_ptr<net::WebSocket>> OpenWebSocket(Context& ctx, net::Request request,
                                                                std::vector<std::string> protocols);
};

// HTTP/2 (or HTTP/1.1) over TLS with the credentials of `config`, which are reloaded when they
// change. All requests share one connection. Idle connections are pinged, so that a dead connection
// is detected within 45 s.
Result<std::shared_ptr<Transport>> ConnectTransport(const Context& ctx, const Config& config);

// Calls the server's handler in the same process, without a socket and without copying bodies.
// `authorization` is the value of the Authorization header ("Bearer ..."), which the server
// authenticates as usual.
// Lifetime: `handler` must be callable while the transport exists.
std::shared_ptr<Transport> MakeInProcessTransport(const Context& ctx, net::Handler handler,
                                                  std::string authorization);

// True for an Unavailable status that occurred before the request was sent, so that a retry cannot
// execute the request twice.
bool NotSent(const Status& status);

}  // namespace cox

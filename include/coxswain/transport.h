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

// Carries requests to an API server. Two ways, one client above them: HTTPS, and calls inside the
// process. Decorators (faults in tests, counting) are Transports over a Transport.
//
// Requests come without host and credentials; the transport adds them.
// Threads: all methods may be called concurrently.
// Errors: Unavailable when the server cannot be reached or the connection broke: then whether the
//   request was executed is not known, unless NotSent() says so. Answers of the server, also 500,
//   are answers.
class Transport {
 public:
  virtual ~Transport() = default;

  // The whole answer.
  virtual Result<net::Response> Do(Context& ctx, net::Request request) = 0;
  // An answer that is read as it comes: a watch, a log, a large list.
  virtual Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) = 0;
  // A WebSocket with one of `protocols`, the most wanted first (net/websocket.h). Unavailable from
  // a transport that has none, which is what this says where it is not overridden.
  virtual Result<std::unique_ptr<net::WebSocket>> OpenWebSocket(Context& ctx, net::Request request,
                                                                std::vector<std::string> protocols);
};

// By HTTP/2 (or HTTP/1.1) over TLS, with the credentials of `config`, which are followed as they
// change. One connection carries all; it is pinged while it is silent, so that one that is dead is
// noticed within 45 s.
Result<std::shared_ptr<Transport>> ConnectTransport(const Context& ctx, const Config& config);

// By calling the server's handler: no socket, no copy of the bodies. `authorization` is the value
// of that header ("Bearer ..."), by which the server knows the caller as it knows all others.
// `handler` must be callable as long as the transport lives.
std::shared_ptr<Transport> MakeInProcessTransport(const Context& ctx, net::Handler handler,
                                                  std::string authorization);

// True of an Unavailable of a Transport that came before the request was sent: sending it again
// cannot do it twice.
bool NotSent(const Status& status);

}  // namespace cox

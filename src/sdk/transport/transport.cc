// SPDX-License-Identifier: Apache-2.0
#include "coxswain/transport.h"

#include "net/client/not_sent.h"
#if __has_include("net/websocket.h")
#include "net/websocket.h"
#else
namespace cox::net {
class WebSocket {};
}  // namespace cox::net
#endif

namespace cox {

Result<std::unique_ptr<net::WebSocket>> Transport::OpenWebSocket(Context&, net::Request,
                                                                 std::vector<std::string>) {
  return net::MarkNotSent(Status::Unavailable("this transport has no WebSockets"));
}

bool NotSent(const Status& status) { return net::NotSent(status); }

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#include "coxswain/transport.h"

#include "net/client/not_sent.h"
#include "net/websocket.h"

namespace cox {

Result<std::unique_ptr<net::WebSocket>> Transport::OpenWebSocket(Context&, net::Request,
                                                                 std::vector<std::string>) {
  return net::MarkNotSent(Status::Unavailable("this transport has no WebSockets"));
}

bool NotSent(const Status& status) { return net::NotSent(status); }

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/context.h"
#include "net/byte_stream.h"
#include "net/websocket.h"

namespace cox::apiserver {

// Which streams of a process the client wants.
struct AskedStreams {
  bool in = false;
  bool out = false;
  bool err = false;
  bool tty = false;
};

// Carries the streams of one process between a client that speaks v5.channel.k8s.io in a WebSocket
// and a kubelet, or what is behind it, that speaks SPDY with v4.channel.k8s.io: each channel is a
// stream there. v5 is v4 with a message that ends a channel, which SPDY has by itself; runtimes do
// not know v5, so it ends here, as at upstream's API server.
//
// Returns when the process has ended and all was sent, the client has gone, or something broke
// (then that is an error, and the client was not told).
Status TranslateStreams(const Context& ctx, net::WebSocket& client, net::ByteStream& node,
                        const AskedStreams& asked);

// Sends what went wrong on the channel for it: a Status, as JSON.
void SendFailure(const Context& ctx, net::WebSocket& client, const Status& why);

// Bytes of SPDY, each way, inside the messages of a WebSocket.
Status TunnelBytes(const Context& ctx, net::WebSocket& client, net::ByteStream& node);

}  // namespace cox::apiserver

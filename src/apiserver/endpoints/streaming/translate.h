// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/context.h"
#include "net/byte_stream.h"
#include "net/websocket.h"

namespace cox::apiserver {

// The streams of a process that the client requests.
struct StreamOptions {
  bool in = false;
  bool out = false;
  bool err = false;
  bool tty = false;
};

// Copies the streams of one process between a client that uses v5.channel.k8s.io over a WebSocket
// and a kubelet that uses SPDY with v4.channel.k8s.io: each channel is a SPDY stream. v5 adds a
// close message for a channel to v4; SPDY closes streams natively. Container runtimes do not
// support v5, so the API server translates it, like upstream's.
//
// Returns when the process has ended and all output is sent, when the client has disconnected, or
// on an error. The error is not sent to the client.
Status TranslateStreams(const Context& ctx, net::WebSocket& client, net::ByteStream& node,
                        const StreamOptions& options);

// Sends an error on the error channel, as a Status in JSON, and closes the WebSocket.
void SendFailure(const Context& ctx, net::WebSocket& client, const Status& why);

// Copies the bytes of SPDY in both directions, inside WebSocket messages.
Status TunnelBytes(const Context& ctx, net::WebSocket& client, net::ByteStream& node);

}  // namespace cox::apiserver

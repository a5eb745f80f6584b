// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/context.h"
#include "base/result.h"
#include "net/http.h"

// WebSockets (RFC 6455), the transport of exec, attach and port-forward.
//
// Uses its own framing (websocket/frame.h) instead of Beast's, because Beast must own the stream
// and its timers, while here the event loop owns sockets, TLS and time. A codec from bytes to bytes
// needs no adapter, can be tested and fuzzed without a socket, and uses the injected clock.
// Extensions (permessage-deflate) are neither offered nor accepted.
namespace cox::net {

struct ClientOptions;

struct WebSocketOptions {
  // Maximum size of a received message; a larger one closes the connection with code 1009.
  size_t max_message_bytes = size_t{32} * 1024 * 1024;
  // Maximum bytes queued per direction: received but not taken by Receive, or sent but not yet
  // written.
  size_t window_bytes = size_t{256} * 1024;
  // A connection without input for this long is pinged, and closed if nothing arrives for another
  // half of that time. 0: no pings, only TCP keep-alive.
  std::chrono::milliseconds ping_after{30'000};
  // Maximum wait for the peer's close frame.
  std::chrono::milliseconds close_timeout{5'000};
};

// Codes of RFC 6455, section 7.4.1.
namespace close_code {
inline constexpr int kNormal = 1000;
inline constexpr int kGoingAway = 1001;
inline constexpr int kProtocolError = 1002;
inline constexpr int kNone = 1005;  // the peer sent no code; never sent
inline constexpr int kBadText = 1007;
inline constexpr int kTooBig = 1009;
inline constexpr int kInternalError = 1011;
}  // namespace close_code

// The peer's close frame.
struct WebSocketClose {
  int code = close_code::kNone;
  std::string reason;
};

// One end of a WebSocket.
//
// Guarantees: messages arrive whole and in order. Both directions have back-pressure: received
//   messages beyond the window stop the peer from sending until Receive is called, and Send blocks
//   while the peer does not read. Pings are answered even if Receive is not called; an end with a
//   full receive window sends unsolicited pongs, so that the peer does not consider it dead.
// Threads: all methods may be called concurrently; messages sent by one thread keep their order.
// Lifetime: destruction aborts the connection without a close frame; Close closes it regularly.
// Errors: Unavailable when the connection broke or the peer does not respond; BadRequest when the
//   peer violates the protocol, RequestEntityTooLarge for a message above the limit (a close frame
//   was sent); the context's error when the context stops first, after which the socket can still
//   be used.
class WebSocket {
 public:
  virtual ~WebSocket() = default;

  // The subprotocol that the server selected; empty: none.
  virtual const std::string& protocol() const = 0;
  // Sends one binary message, as one frame. Returns when it is queued within the window.
  virtual Status Send(Context& ctx, std::string_view message) = 0;
  // The next message, binary or text. nullopt when the peer has closed, see closed().
  virtual Result<std::optional<Bytes>> Receive(Context& ctx) = 0;
  // Set once the peer's close has arrived.
  virtual std::optional<WebSocketClose> closed() const = 0;
  // Sends the queued messages and a close frame, and waits for the peer's close frame. Messages
  // that arrive before it are dropped. OK also when the peer closed first.
  virtual Status Close(Context& ctx, int code = close_code::kNormal,
                       std::string_view reason = {}) = 0;
};

// Connects to the server of `client` (always over HTTP/1.1, with TLS if configured) and requests a
// WebSocket with one of `protocols`, in order of preference. Each call uses its own connection and
// event loop thread.
//
// Errors: same as Client; BadRequest when the response violates RFC 6455, or selects none of
//   `protocols`. If the server sends another response than 101, that response (with the first 64
//   KiB of its body) is stored in `refusal` if not null, and quoted in the message.
Result<std::unique_ptr<WebSocket>> ConnectWebSocket(Context& ctx, ClientOptions client,
                                                    Request request,
                                                    std::vector<std::string> protocols,
                                                    const WebSocketOptions& options = {},
                                                    Response* refusal = nullptr);

// Two ends connected to each other inside the process, with the same guarantees; without an event
// loop and without pings.
std::pair<std::unique_ptr<WebSocket>, std::unique_ptr<WebSocket>> MakeWebSocketPair(
    const std::string& protocol, const WebSocketOptions& options = {});

// Whether a request is a WebSocket upgrade.
bool IsWebSocketRequest(const Request& request);

}  // namespace cox::net

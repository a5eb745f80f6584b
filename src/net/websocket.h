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

// Messages both ways over one connection (RFC 6455), what exec, attach and port-forward run on.
//
// The framing is our own (websocket/frame.h) and not Beast's: Beast wants to own the stream and its
// timers, while here the loop owns sockets, TLS and time. As bytes in, bytes out it needs no
// adapter, is tested and fuzzed without a socket, and takes its time from the injected clock.
// Extensions (permessage-deflate) are neither offered nor accepted.
namespace cox::net {

struct ClientOptions;

struct WebSocketOptions {
  // What the peer may send as one message; more ends the connection with code 1009.
  size_t max_message_bytes = size_t{32} * 1024 * 1024;
  // What may wait on each side: received and not taken, given to Send and not taken by the socket.
  size_t window_bytes = size_t{256} * 1024;
  // A connection on which nothing came for this long is pinged, and given up when nothing comes for
  // half of that again. 0: never, TCP's keep-alive has to do.
  std::chrono::milliseconds ping_after{30'000};
  // How long the peer may take to answer a close.
  std::chrono::milliseconds close_timeout{5'000};
};

// Codes of RFC 6455, section 7.4.1.
namespace close_code {
inline constexpr int kNormal = 1000;
inline constexpr int kGoingAway = 1001;
inline constexpr int kProtocolError = 1002;
inline constexpr int kNone = 1005;  // the peer gave none; never sent
inline constexpr int kBadText = 1007;
inline constexpr int kTooBig = 1009;
inline constexpr int kInternalError = 1011;
}  // namespace close_code

// How the peer said goodbye.
struct WebSocketClose {
  int code = close_code::kNone;
  std::string reason;
};

// One end of a WebSocket.
//
// Guarantees: messages arrive whole and in order. Both directions have back-pressure: a message
//   that is not taken by Receive keeps, beyond the window, the peer from sending, and Send waits
//   while the peer takes nothing. Pings are answered without anybody calling Receive; an end whose
//   user is behind tells its peer every now and then that it lives.
// Threads: all methods may be called concurrently; messages sent by one thread keep their order.
// Lifetime: dropping it aborts the connection, without goodbye; Close is the way in peace.
// Errors: Unavailable when the connection broke or the peer is dead; BadRequest when the peer
//   violates the protocol, RequestEntityTooLarge for a message above the limit (the peer was told);
//   the context's reason when that stops first, after which the socket can still be used.
class WebSocket {
 public:
  virtual ~WebSocket() = default;

  // Which of the offered subprotocols was chosen; empty: none.
  virtual const std::string& protocol() const = 0;
  // Sends one binary message, as one frame. Returns when it is queued within the window.
  virtual Status Send(Context& ctx, std::string_view message) = 0;
  // The next message, binary or text. None when the peer has closed: closed() says how.
  virtual Result<std::optional<Bytes>> Receive(Context& ctx) = 0;
  // Set once the peer's close has arrived.
  virtual std::optional<WebSocketClose> closed() const = 0;
  // Sends what is queued and then the close, and waits for the peer's. What it still sends before
  // that is dropped. OK also when the peer was first.
  virtual Status Close(Context& ctx, int code = close_code::kNormal,
                       std::string_view reason = {}) = 0;
};

// Connects to the server of `options` (always by HTTP/1.1, with TLS if it says so) and asks it for
// a WebSocket with one of `protocols`, the most wanted first. Each has a connection and a loop
// thread of its own.
//
// Errors: as Client's; BadRequest when the server did not answer as RFC 6455 wants, or chose no
//   protocol of ours. When the server answered with something else than a WebSocket, that is in
//   `refusal` (with the first 64 KiB of its body) if that is not null, and in the message.
Result<std::unique_ptr<WebSocket>> ConnectWebSocket(Context& ctx, ClientOptions client,
                                                    Request request,
                                                    std::vector<std::string> protocols,
                                                    const WebSocketOptions& options = {},
                                                    Response* refusal = nullptr);

// Two ends that are connected to each other inside the process, with the same promises; no loop and
// no pings.
std::pair<std::unique_ptr<WebSocket>, std::unique_ptr<WebSocket>> MakeWebSocketPair(
    const std::string& protocol, const WebSocketOptions& options = {});

// Whether a request asks to become a WebSocket.
bool IsWebSocketRequest(const Request& request);

}  // namespace cox::net

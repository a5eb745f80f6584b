// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/context.h"
#include "base/result.h"
#include "net/http.h"

// Raw byte streams over an upgraded HTTP/1.1 connection (SPDY/3.1, a proxied WebSocket). They carry
// exec, attach and port-forward.
namespace cox::net {

struct ClientOptions;

// One end of a byte stream.
//
// Guarantees: bytes arrive in order. Both directions have back-pressure: unread bytes beyond the
//   window stop the peer from sending, and Write blocks while the peer does not read.
// Threads: one thread may read while another writes.
// Lifetime: destruction closes the connection: immediately, or after EndWriting when the rest is
//   sent.
// Errors: Unavailable when the connection broke; the context's error when the context stops first,
//   after which the stream can still be used.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // The next bytes; empty at the end of the peer's output.
  virtual Result<Bytes> Read(const Context& ctx) = 0;
  // Returns when the bytes are queued within the window.
  virtual Status Write(const Context& ctx, std::string_view bytes) = 0;
  // Half-closes the stream: the peer reads the end after all written bytes. Reading continues.
  virtual void EndWriting() = 0;
};

// The maximum number of bytes queued on each side of a stream.
inline constexpr size_t kStreamWindow = size_t{256} * 1024;

struct Upgraded {
  Response answer;                     // 101, or the server's other response, its body truncated
  std::unique_ptr<ByteStream> stream;  // null unless 101
};

// Connects to the server of `client` (always over HTTP/1.1, with TLS if configured), sends
// `request` with its headers, and takes over the connection if the server accepts the protocol in
// the "upgrade" header. Each call uses its own connection and event loop thread.
//
// Errors: same as Client; BadRequest when the request names no protocol, or the server switched to
//   another.
Result<Upgraded> ConnectUpgrade(Context& ctx, ClientOptions client, Request request);

struct PipeLimits {
  // Once one end has half-closed, the other may be silent for this long.
  std::chrono::milliseconds linger = std::chrono::seconds(60);
  // Before that, both ends may be silent for this long. 0: forever.
  std::chrono::milliseconds idle{0};
};

// Copies bytes in both directions until both ends have half-closed. When one end half-closes, the
// half-close is forwarded to the other end, which may continue to send. A broken end, a limit, or a
// stopped `ctx` closes both. OK if both ends closed regularly.
Status Pipe(const Context& ctx, ByteStream& a, ByteStream& b, const PipeLimits& limits = {});

// Two ends connected to each other inside the process, with the same guarantees.
std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> MakeByteStreamPair();

// The protocol in the request's "upgrade" header: "SPDY/3.1"; empty if there is none.
std::string_view UpgradeOf(const Request& request);

}  // namespace cox::net

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

// A connection that was HTTP/1.1 and now is something we do not look at (SPDY/3.1, a WebSocket
// between others): bytes both ways. What exec, attach and port-forward are passed on with.
namespace cox::net {

struct ClientOptions;

// One end of it.
//
// Guarantees: bytes arrive in order. Both directions have back-pressure: what is not read keeps,
//   beyond a window, the peer from sending, and Write waits while the peer takes nothing.
// Threads: one may read while another writes.
// Lifetime: dropping it ends the connection: at once, or after EndWriting when the rest was sent.
// Errors: Unavailable when the connection broke; the context's reason when that stops first, after
//   which the stream can still be used.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // The next bytes; empty at the end of what the peer sends.
  virtual Result<Bytes> Read(const Context& ctx) = 0;
  // Returns when they are queued within the window.
  virtual Status Write(const Context& ctx, std::string_view bytes) = 0;
  // The peer reads to the end, behind all that was written. Reading goes on.
  virtual void EndWriting() = 0;
};

// What may wait on each side of a stream.
inline constexpr size_t kStreamWindow = size_t{256} * 1024;

struct Upgraded {
  Response answer;                     // 101, or what the server said instead, its body cut
  std::unique_ptr<ByteStream> stream;  // null unless 101
};

// Connects to the server of `client` (always by HTTP/1.1, with TLS if it says so), sends `request`
// with its headers, and takes the connection over if the server agrees to the protocol that its
// "upgrade" header names. Each has a connection and a loop thread of its own.
//
// Errors: as Client's; BadRequest when the request names no protocol, or the server switched to
//   another.
Result<Upgraded> ConnectUpgrade(Context& ctx, ClientOptions client, Request request);

// Carries bytes both ways until both ends have said all. Where one end says no more, the other is
// told so and may go on, as long as something comes every `linger`. An end that breaks, or `ctx`
// stopping, ends both. OK if each end said that it was the end.
Status Pipe(const Context& ctx, ByteStream& a, ByteStream& b,
            std::chrono::milliseconds linger = std::chrono::seconds(60));

// Two ends that are connected to each other inside the process, with the same promises.
std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> MakeByteStreamPair();

// The protocol that a request wants the connection to become: "SPDY/3.1"; empty: none.
std::string_view UpgradeOf(const Request& request);

}  // namespace cox::net

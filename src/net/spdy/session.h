// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/mutex.h"
#include "net/byte_stream.h"
#include "net/spdy/frame.h"

namespace cox::net::spdy {

// Events of a connection, called in order on the thread of Session::Run. A slow handler stops the
// peer from sending on all streams, because they share the connection.
class Events {
 public:
  virtual ~Events() = default;
  // The peer opened a stream and expects Session::Reply or Reset.
  virtual Status OnStream(uint32_t stream, const HeaderList& headers) = 0;
  virtual Status OnData(uint32_t stream, std::string_view bytes) = 0;
  // The peer half-closed the stream.
  virtual Status OnFinished(uint32_t stream) = 0;
  // The peer reset the stream (RST_STREAM).
  virtual Status OnReset(uint32_t stream) = 0;
};

// One end of SPDY/3.1 over a connection.
//
// Guarantees: frames of one stream keep their order. At most kMaxStreams are open at once; if the
//   peer opens more, the session fails. Data for unknown streams is answered with RST_STREAM,
//   without an event. Sending has back-pressure: it blocks while the peer does not read.
// Threads: Run on one thread; the other methods on any.
// Lifetime: `wire` must outlive the session, which does not close it.
// Errors: those of the connection; BadRequest when the peer violates the protocol.
class Session {
 public:
  enum class Role { kClient, kServer };
  static constexpr size_t kMaxStreams = 4096;

  Session(ByteStream& wire, Role role)
      : wire_(wire), role_(role), next_(role == Role::kClient ? 1 : 2) {}

  // Reads frames and calls `events` until the peer half-closes the connection (OK), the connection
  // breaks, or an event returns an error.
  Status Run(const Context& ctx, Events& events);

  Result<uint32_t> Open(const Context& ctx, const HeaderList& headers);
  Status Reply(const Context& ctx, uint32_t stream);
  // No effect on a closed stream.
  Status Send(const Context& ctx, uint32_t stream, std::string_view bytes);
  Status Finish(const Context& ctx, uint32_t stream);
  Status Reset(const Context& ctx, uint32_t stream);
  Status GoAway(const Context& ctx);

 private:
  // Which ends of a stream are still open.
  struct Ends {
    bool ours = true;
    bool theirs = true;
  };

  Status Take(const Context& ctx, Frame& frame, Events& events);
  Status TakeSynStream(const Context& ctx, const Frame& frame, Events& events);
  Status TakeData(const Context& ctx, const Frame& frame, Events& events);
  Status TakeEnd(uint32_t stream, Events& events);
  // Whether the peer may still send on the stream.
  bool PeerMaySend(uint32_t stream);
  // Whether this end may still send; `last` closes this end.
  bool MaySend(uint32_t stream, bool last);
  // Writes the queued frames in order, unless another thread is already writing. Releases `mu_`
  // while it blocks.
  Status Write(const Context& ctx) COX_REQUIRES(mu_);
  Status WriteFrame(const Context& ctx, const std::string& frame, bool waits);

  ByteStream& wire_;
  const Role role_;
  Parser parser_;             // Run only
  HeaderUnpacker unpacker_;   // Run only
  uint32_t last_theirs_ = 0;  // Run only

  Mutex mu_;
  CondVar changed_;
  HeaderPacker packer_ COX_GUARDED_BY(mu_);
  uint32_t next_ COX_GUARDED_BY(mu_);
  std::map<uint32_t, Ends> streams_ COX_GUARDED_BY(mu_);
  std::string outbox_ COX_GUARDED_BY(mu_);
  bool writing_ COX_GUARDED_BY(mu_) = false;
  Status broken_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::net::spdy

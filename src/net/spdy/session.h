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

// What happens on a connection, told in order on the thread that runs it. Who takes long holds the
// peer back: on all streams, for they share the connection.
class Events {
 public:
  virtual ~Events() = default;
  // The peer opened a stream, and counts on an answer: Session::Reply or Reset.
  virtual Status OnStream(uint32_t stream, const HeaderList& headers) = 0;
  virtual Status OnData(uint32_t stream, std::string_view bytes) = 0;
  // The peer sends no more on it.
  virtual Status OnFinished(uint32_t stream) = 0;
  // It is over in both directions, without peace.
  virtual Status OnReset(uint32_t stream) = 0;
};

// One end of SPDY/3.1 over a connection.
//
// Guarantees: frames of one stream keep their order. At most kMaxStreams are open at once; a peer
//   that opens more loses the connection. Streams the peer speaks of and we do not know are told to
//   be reset, without an event. Sending holds back: it waits while the peer takes nothing.
// Threads: Run by one; the others by any.
// Lifetime: the connection outlives it. It ends nothing by itself.
// Errors: as the connection's; BadRequest when the peer does not keep to the protocol.
class Session {
 public:
  enum class Role { kClient, kServer };
  static constexpr size_t kMaxStreams = 4096;

  Session(ByteStream& wire, Role role)
      : wire_(wire), role_(role), next_(role == Role::kClient ? 1 : 2) {}

  // Reads and tells until the peer says all (OK), something breaks, or an event returns an error.
  Status Run(const Context& ctx, Events& events);

  Result<uint32_t> Open(const Context& ctx, const HeaderList& headers);
  Status Reply(const Context& ctx, uint32_t stream);
  // Nothing happens on a stream that is over.
  Status Send(const Context& ctx, uint32_t stream, std::string_view bytes);
  Status Finish(const Context& ctx, uint32_t stream);
  Status Reset(const Context& ctx, uint32_t stream);
  Status GoAway(const Context& ctx);

 private:
  // Of a stream: which ends still send.
  struct Ends {
    bool ours = true;
    bool theirs = true;
  };

  Status Take(const Context& ctx, Frame& frame, Events& events);
  Status TakeSynStream(const Context& ctx, const Frame& frame, Events& events);
  Status TakeData(const Context& ctx, const Frame& frame, Events& events);
  Status TakeEnd(uint32_t stream, Events& events);
  // Whether the peer may still send on it.
  bool Hears(uint32_t stream);
  // Whether we may; with `last`, never again.
  bool Speaks(uint32_t stream, bool last);
  // Frames go out in the order they are made, by whoever finds nobody else writing.
  // Lets go of `mu_` while it waits.
  Status Write(const Context& ctx) COX_REQUIRES(mu_);
  Status WriteFrame(const Context& ctx, const std::string& frame, bool waits);

  ByteStream& wire_;
  const Role role_;
  Parser parser_;             // Run's
  HeaderUnpacker unpacker_;   // Run's
  uint32_t last_theirs_ = 0;  // Run's

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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/context.h"
#include "base/result.h"

namespace cox::testkit {

// A TCP proxy on the loopback between a client and a server that does to connections what networks
// do: for what only shows on real sockets, such as HTTP/2 pings and dead peers.
//
//   auto proxy = FaultyProxy::Start(cluster->context(), cluster->port());
//   Config config = cluster->config();
//   config.server = "https://127.0.0.1:" + std::to_string((*proxy)->port());
//   ...
//   (*proxy)->Pause();            // the peer has vanished: nothing comes, nothing is closed
//
// What a method says holds for connections that run and for those to come, when it has returned.
// Threads: all methods may be called concurrently. It has one thread, and real time.
// Ownership: dropping it resets all connections.
class FaultyProxy {
 public:
  // Listens on a free port and forwards to 127.0.0.1:`to`. Delays are by the clock of `ctx`.
  // Unavailable where no port can be had.
  static Result<std::unique_ptr<FaultyProxy>> Start(const Context& ctx, uint16_t to);
  virtual ~FaultyProxy() = default;

  virtual uint16_t port() const = 0;

  // Forwards nothing, in no direction, and closes nothing: half-open connections. New ones are
  // taken and go unanswered.
  virtual void Pause() = 0;
  // Goes on with what was held back; nothing is lost.
  virtual void Resume() = 0;
  // Resets (RST) the connections there are; new ones are forwarded as ever.
  virtual void Reset() = 0;
  // Resets each connection once it has brought so many more bytes to its client.
  virtual void CutAfter(size_t bytes) = 0;
  // Each piece comes so much later. 0: at once.
  virtual void SetDelay(Clock::Duration delay) = 0;
  // Whether new connections are reset as soon as they are made.
  virtual void SetRefusing(bool refusing) = 0;
  // All of the above is undone; connections that run go on.
  virtual void Heal() = 0;

  virtual size_t connections() const = 0;  // that run now
  virtual uint64_t accepted() const = 0;   // since the start
  // Until so many were accepted. Not OK when `ctx` stops first.
  virtual Status AwaitAccepted(Context& ctx, uint64_t count) const = 0;
};

}  // namespace cox::testkit

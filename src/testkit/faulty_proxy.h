// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/context.h"
#include "base/result.h"

namespace cox::testkit {

// A TCP proxy on the loopback interface between a client and a server that injects network faults.
// It is for faults that need real sockets, such as HTTP/2 pings and dead peers.
//
//   auto proxy = FaultyProxy::Start(cluster->context(), cluster->port());
//   Config config = cluster->config();
//   config.server = "https://127.0.0.1:" + std::to_string((*proxy)->port());
//   ...
//   (*proxy)->Pause();            // the peer is dead: no data, no close
//
// When a method returns, its effect applies to existing and new connections.
// Threads: all methods may be called concurrently. The proxy has one thread and uses real time.
// Ownership: destruction resets all connections.
class FaultyProxy {
 public:
  // Listens on a free port and forwards to 127.0.0.1:`to`. Delays use the clock of `ctx`. Returns
  // Unavailable if no port is free.
  static Result<std::unique_ptr<FaultyProxy>> Start(const Context& ctx, uint16_t to);
  virtual ~FaultyProxy() = default;

  virtual uint16_t port() const = 0;

  // Stops forwarding in both directions and closes nothing: half-open connections. New connections
  // are accepted, but get no response.
  virtual void Pause() = 0;
  // Forwards the data that was held back; nothing is lost.
  virtual void Resume() = 0;
  // Resets (RST) the existing connections; new ones are forwarded.
  virtual void Reset() = 0;
  // Resets each connection after this number of further bytes to its client.
  virtual void CutAfter(size_t bytes) = 0;
  // Delays each chunk of data. 0: no delay.
  virtual void SetDelay(Clock::Duration delay) = 0;
  // If true, new connections are reset immediately after they are accepted.
  virtual void SetRefusing(bool refusing) = 0;
  // Reverts all of the above; existing connections continue.
  virtual void Heal() = 0;

  virtual size_t connections() const = 0;  // currently open
  virtual uint64_t accepted() const = 0;   // since the start
  // Waits until this number of connections was accepted. Returns an error when `ctx` stops first.
  virtual Status AwaitAccepted(Context& ctx, uint64_t count) const = 0;
};

}  // namespace cox::testkit

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/context.h"
#include "base/mutex.h"
#include "net/io/event_loop.h"
#include "net/server.h"

namespace cox::net {

// Counters of a server, over all its loops.
struct ServerCounters {
  std::atomic<size_t> connections = 0;
  std::atomic<size_t> half_open = 0;
  std::atomic<size_t> streams = 0;
  std::atomic<uint64_t> requests = 0;
  std::atomic<uint64_t> refused = 0;
  std::atomic<size_t> request_bytes = 0;  // headers and bodies of incomplete requests

  // Adds bytes of a request that then has `counted` bytes. False: the request must be rejected.
  // Small requests are accepted as long as possible.
  bool AddBytes(size_t bytes, size_t counted, const ServerOptions& options) {
    constexpr size_t kSmall = size_t{16} * 1024;
    const size_t total = request_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (total <= options.max_buffered_bytes) return true;
    return counted <= kSmall && total <= 2 * options.max_buffered_bytes;
  }

  // `count` connections were closed; notifies waiters after the last one.
  void Closed(size_t count) {
    if (count == 0 || connections.fetch_sub(count, std::memory_order_acq_rel) != count) return;
    MutexLock lock(mu);
    all_closed.NotifyAll();
  }
  Mutex mu;
  CondVar all_closed;
};

// State shared by all sessions of a server. Outlives them.
struct SessionShared {
  const ServerOptions& options;
  const Handler& handler;
  ServerCounters& counters;
  Context context;  // parent of the requests' contexts
  std::shared_ptr<EventLoop> loop;
};

// The HTTP protocol of one connection, without the socket.
//
// Threads: loop thread only.
class Session {
 public:
  // Receives notifications of a session.
  class Host {
   public:
    virtual ~Host() = default;
    // Output may be available outside of Receive and Produce.
    virtual void OnOutputReady() = 0;
  };

  virtual ~Session() = default;

  virtual void Receive(std::string_view bytes) = 0;
  // Writes at most `room` bytes of output to `to`. 0: nothing to send now.
  virtual size_t Produce(char* to, size_t room) = 0;
  // The connection must be closed as soon as Produce returns 0.
  virtual bool finished() const = 0;
  // False: stop reading for now.
  virtual bool wants_input() const { return true; }
  // The connection must be closed now, without sending pending output.
  virtual bool aborted() const { return false; }
  // The peer half-closed. True: output continues; false: the connection is closed.
  virtual bool InputEnded() { return false; }
  // The output has ended, but input is still received.
  virtual bool output_ended() const { return false; }
  // No write timeout applies.
  virtual bool patient() const { return false; }
  // Checks the deadlines; called periodically.
  virtual void CheckTime(Clock::SteadyTime now) = 0;
  // Notifies the peer of the shutdown (GOAWAY or Connection: close), finishes requests in flight.
  virtual void Drain() = 0;
  // Ends streaming responses: their contexts stop, their sources are pulled one last time.
  virtual void StopStreams() = 0;
};

}  // namespace cox::net

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

// What a server counts, over all its loops.
struct ServerCounters {
  std::atomic<size_t> connections = 0;
  std::atomic<size_t> half_open = 0;
  std::atomic<size_t> streams = 0;
  std::atomic<uint64_t> requests = 0;
  std::atomic<uint64_t> refused = 0;
  std::atomic<size_t> body_bytes = 0;  // of requests that are not complete yet

  // `count` connections are gone; tells whoever waits for the last.
  void Closed(size_t count) {
    if (count == 0 || connections.fetch_sub(count, std::memory_order_acq_rel) != count) return;
    MutexLock lock(mu);
    all_closed.NotifyAll();
  }
  Mutex mu;
  CondVar all_closed;
};

// What all sessions of a server have in common. Outlives them.
struct SessionShared {
  const ServerOptions& options;
  const Handler& handler;
  ServerCounters& counters;
  Context context;  // parent of the requests' contexts
  std::shared_ptr<EventLoop> loop;
};

// HTTP on one connection, apart from the connection: bytes in, bytes out, no socket.
//
// Threads: the loop's only.
class Session {
 public:
  // Whom a session tells.
  class Host {
   public:
    virtual ~Host() = default;
    // There may be something to send outside of Receive and Produce.
    virtual void OnOutputReady() = 0;
  };

  virtual ~Session() = default;

  virtual void Receive(std::string_view bytes) = 0;
  // Puts at most `room` bytes of output at `to`. 0: nothing to send now.
  virtual size_t Produce(char* to, size_t room) = 0;
  // The connection is to be closed as soon as Produce gives nothing.
  virtual bool finished() const = 0;
  // False: no more bytes are wanted for now.
  virtual bool wants_input() const { return true; }
  // The connection is to be closed now, whatever the peer has not taken.
  virtual bool aborted() const { return false; }
  // The peer has sent all it will. True: it is still sent to; false: that ends the connection.
  virtual bool InputEnded() { return false; }
  // Nothing more will be sent, but what comes is wanted.
  virtual bool output_ended() const { return false; }
  // The peer may take nothing for as long as it likes.
  virtual bool patient() const { return false; }
  // Looks at its deadlines; called every now and then.
  virtual void CheckTime(Clock::SteadyTime now) = 0;
  // Lets the peer know that it should go elsewhere, finishes what runs.
  virtual void Drain() = 0;
  // Ends streaming responses: their contexts stop, their sources are asked once more.
  virtual void StopStreams() = 0;
};

}  // namespace cox::net

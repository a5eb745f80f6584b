// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/context.h"
#include "net/server.h"

namespace cox::apiserver {

// The entry point for in-process requests, like net::Server for requests from the network.
//
// Callers may outlive the server, so this class separates them from it: the context of a request
// stops when the caller cancels or the server stops, and the sources of streamed responses are
// owned here. Stop ends the streams that are still running.
// Threads: All methods may be called concurrently, and so may the handler, on any thread.
class LocalCalls {
 public:
  // `serve` receives the requests, with contexts that are children of `ctx`, until Stop has
  // returned.
  LocalCalls(const Context& ctx, net::Handler serve);
  ~LocalCalls() { Stop(); }

  // May be called at any time; after the server has been destroyed the response is 503. Blocks if
  // `serve` does.
  net::Handler handler() const;

  // Rejects new requests, and waits until the accepted ones have a response or `ctx` stops.
  // Streamed responses count as sent: they continue until Stop.
  Status Drain(Context& ctx);
  // Rejects new requests, ends the streams, and waits until `serve` is no longer running and
  // nothing of it is referenced here. Calls without a response may still send one.
  void Stop();

 private:
  struct SharedState;
  struct Running;
  class LocalExchange;
  class LocalSource;

  const std::shared_ptr<SharedState> shared_;
};

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/context.h"
#include "net/server.h"

namespace cox::apiserver {

// The door for requests from inside the process: what net::Server is for those that come by a
// socket.
//
// It keeps callers, who may live longer than the server, apart from what the server is made of: a
// request's context stops when its caller gives up or the server stops, and the sources of
// responses that stream are the door's. A stream that Stop finds running ends there.
// Threads: all methods may be called concurrently; the handler too, on any thread.
class LocalCalls {
 public:
  // `serve` gets the requests, with contexts that are children of `ctx`, until Stop has returned.
  LocalCalls(const Context& ctx, net::Handler serve);
  ~LocalCalls() { Stop(); }

  // May be called at any time, also when the server is gone: then the answer is 503. Blocks where
  // `serve` does.
  net::Handler handler() const;

  // Takes no more, and returns when those it took have been answered or `ctx` stops. Responses that
  // stream are answered: they go on until Stop.
  Status Drain(Context& ctx);
  // Takes no more, ends the streams, and returns when nothing of `serve` runs or is held here.
  // Calls that were not answered still may be.
  void Stop();

 private:
  struct Door;
  struct Running;
  class LocalExchange;
  class LocalSource;

  const std::shared_ptr<Door> door_;
};

}  // namespace cox::apiserver

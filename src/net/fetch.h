// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/context.h"
#include "base/result.h"
#include "net/client.h"

// Single requests and connections without a waiting thread: for a caller with many of them at the
// same time, to servers that may never respond.
//
// `done` is called exactly once, on the thread of the loop, and must not block. When `ctx` stops,
// the result is its error. The loop must not be stopped before. Names are resolved one after
// another.
namespace cox::net {

struct Fetched {
  int status = 0;
  Headers headers;
  std::string body;  // the first ClientOptions::max_response_bytes; the rest is not read
};

// Sends a request on a connection of its own. Only `ctx` limits the time: the timeouts in `options`
// have no effect. REQUIRES: options.loop is set.
void Fetch(const Context& ctx, ClientOptions options, Request request,
           std::function<void(Result<Fetched>)> done);

// Opens a connection to a host name or an IP address, and closes it. Errors have the text of Go:
// "dial tcp 10.0.0.1:80: connect: connection refused".
void TryConnect(const Context& ctx, const std::shared_ptr<EventLoop>& loop, const std::string& host,
                uint16_t port, std::function<void(Status)> done);

}  // namespace cox::net

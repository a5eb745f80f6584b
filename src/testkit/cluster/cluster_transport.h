// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "coxswain/transport.h"
#include "net/server.h"

namespace cox::testkit {

// The current server, for clients that outlive it, like a host and port on a network.
//
// Threads: all methods may be called concurrently.
class ServerSlot {
 public:
  // Sends new requests to `handler` until `life` stops.
  void Put(net::Handler handler, Context life);
  // Refuses new requests.
  void Clear();

  struct Server {
    net::Handler handler;
    Context life;  // stops with Unavailable when connections to the server break
  };
  // Empty: connection refused.
  std::optional<Server> Get() const;

 private:
  mutable Mutex mu_;
  std::optional<Server> server_ COX_GUARDED_BY(mu_);
};

// Calls the current server in the process. When the server stops, requests and streams fail like
// broken connections; without a server, connections are refused.
//
// Threads: like Transport.
class ClusterTransport final : public Transport {
 public:
  ClusterTransport(const Context& ctx, std::shared_ptr<const ServerSlot> slot,
                   std::string authorization);

  Result<net::Response> Do(Context& ctx, net::Request request) override;
  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) override;
  Result<std::unique_ptr<net::WebSocket>> OpenWebSocket(
      Context& ctx, net::Request request, std::vector<std::string> protocols) override;

 private:
  const std::shared_ptr<const ServerSlot> slot_;
  const std::shared_ptr<Transport> under_;  // calls the current server
};

// A context that stops when either of two contexts stops.
class BothContexts {
 public:
  BothContexts(const Context& first, const Context& second)
      : both_(first.Child()),
        on_stop_(second.OnStop([both = both_, second]() mutable { both.Stop(second.status()); })) {}
  Context& get() { return both_; }

 private:
  Context both_;
  StopHandle on_stop_;
};

}  // namespace cox::testkit

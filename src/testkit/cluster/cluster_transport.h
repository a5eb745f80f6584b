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

// The server of the moment, for those who live longer: what a host and port are over a network.
//
// Threads: all methods may be called concurrently.
class ServerSlot {
 public:
  // From now on requests go to `handler`, until `life` stops.
  void Put(net::Handler handler, Context life);
  // No server, from now on.
  void Clear();

  struct Server {
    net::Handler handler;
    Context life;  // stops, as Unavailable, when connections to that server break
  };
  // None: connection refused.
  std::optional<Server> Get() const;

 private:
  mutable Mutex mu_;
  std::optional<Server> server_ COX_GUARDED_BY(mu_);
};

// Calls the server of the moment inside the process. When that goes down, requests and streams end
// as if a connection broke; while there is none, as if none could be made.
//
// Threads: as Transport.
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
  const std::shared_ptr<Transport> under_;  // to whatever server there is
};

// A context that stops with either of two.
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

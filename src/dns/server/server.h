// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/context.h"
#include "base/result.h"
#include "dns/server/forwarder.h"
#include "dns/server/metrics.h"
#include "dns/zone/zone.h"

namespace cox::dns {

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 53;  // 0: any, the same for UDP and TCP
  ForwardOptions forward;
  size_t max_connections = 500;  // of TCP
  std::chrono::seconds idle_timeout{10};
};

// Serves UDP and TCP: names of the zone directly, others by forwarding. Uses one thread.
//
// Security: the resources per peer are bounded: 4 KiB per query, kMaxUdpAnswer per UDP response, a
//   maximum number of connections and queries in flight, and an idle timeout. Refuses ANY, zone
//   transfers, and classes other than IN.
// Lifetime: serves until it is destroyed. `zone` and `metrics` outlive it.
class Server {
 public:
  static Result<std::unique_ptr<Server>> Start(const Context& ctx, ServerOptions options,
                                               const Zone& zone, Metrics& metrics);
  virtual ~Server() = default;
  virtual uint16_t port() const = 0;
};

}  // namespace cox::dns

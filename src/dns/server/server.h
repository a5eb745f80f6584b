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

// Answers by UDP and TCP: names of the zone itself, others by asking upstreams. One thread.
//
// What a peer may cost is bounded: queries of 4 KiB, answers of kMaxUdpAnswer over UDP, connections
//   and queries in flight by number, connections by idle time. ANY, transfers, and classes other
//   than IN are refused.
// Lifetime: serves until it is destroyed. `zone` and `metrics` outlive it.
class Server {
 public:
  static Result<std::unique_ptr<Server>> Start(const Context& ctx, ServerOptions options,
                                               const Zone& zone, Metrics& metrics);
  virtual ~Server() = default;
  virtual uint16_t port() const = 0;
};

}  // namespace cox::dns

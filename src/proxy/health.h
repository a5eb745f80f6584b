// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "coxswain/object_key.h"
#include "net/endpoint.h"
#include "net/http.h"
#include "proxy/metrics.h"

namespace cox::proxy {

// Whether the rules are up to date with the objects; serves /healthz and /livez on port 10256.
//
// Threads: all methods may be called concurrently.
class ProxyHealth {
 public:
  ProxyHealth(Clock& clock, Metrics& metrics) : clock_(clock), metrics_(metrics) {}

  void Queued();   // a change is pending
  void Updated();  // all changes that were queued when the sync began are programmed
  // False: the node is about to be removed; /healthz then fails, /livez does not.
  void SetEligible(bool eligible);
  bool Healthy() const;
  net::Response Answer(const net::Request& request);

 private:
  // How long a change may be pending before the proxy is unhealthy: twice upstream's sync period.
  static constexpr std::chrono::seconds kMaxPending{60};

  Clock& clock_;
  Metrics& metrics_;
  mutable Mutex mu_;
  std::optional<Clock::WallTime> updated_ COX_GUARDED_BY(mu_);
  std::optional<Clock::SteadyTime> waiting_since_ COX_GUARDED_BY(mu_);
  bool eligible_ COX_GUARDED_BY(mu_) = true;
};

// The state of a health check node port: whether this node has endpoints of the Service.
struct ServiceHealth {
  uint16_t port = 0;  // healthCheckNodePort; 0: none
  int local_endpoints = 0;
  bool operator==(const ServiceHealth&) const = default;
};

// The HTTP servers for healthCheckNodePort.
//
// Threads: one thread calls Update; requests are handled by others.
class ServiceHealthServers {
 public:
  ServiceHealthServers(const Context& ctx, const ProxyHealth& proxy) : ctx_(ctx), proxy_(proxy) {}

  // A port that cannot be bound is logged, and retried at the next change.
  void Update(const ObjectKey& service, const ServiceHealth& health);

 private:
  struct Served {
    uint16_t port = 0;
    std::shared_ptr<std::atomic<int>> local_endpoints;
    std::unique_ptr<net::Endpoint> server;
  };
  const Context& ctx_;
  const ProxyHealth& proxy_;
  std::map<ObjectKey, Served> served_;
};

// The response to a load balancer's health check.
net::Response RespondWithServiceHealth(const ObjectKey& service, int local_endpoints, bool healthy);

}  // namespace cox::proxy

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

// Whether the rules keep up with the objects; /healthz and /livez of port 10256.
//
// Threads: all methods may be called concurrently.
class ProxyHealth {
 public:
  ProxyHealth(Clock& clock, Metrics& metrics) : clock_(clock), metrics_(metrics) {}

  void Queued();   // something changed that is not programmed yet
  void Updated();  // all that was queued when the sync began is programmed
  // False: the node is about to go; /healthz says so, /livez does not mind.
  void SetEligible(bool eligible);
  bool Healthy() const;
  net::Response Answer(const net::Request& request);

 private:
  // As long as a change may take before it is a failure: twice upstream's sync period.
  static constexpr std::chrono::seconds kPatience{60};

  Clock& clock_;
  Metrics& metrics_;
  mutable Mutex mu_;
  std::optional<Clock::WallTime> updated_ COX_GUARDED_BY(mu_);
  std::optional<Clock::SteadyTime> waiting_since_ COX_GUARDED_BY(mu_);
  bool eligible_ COX_GUARDED_BY(mu_) = true;
};

// What a load balancer asks each node for: has this Service endpoints here?
struct ServiceHealth {
  uint16_t port = 0;  // healthCheckNodePort; 0: none
  int local_endpoints = 0;
  bool operator==(const ServiceHealth&) const = default;
};

// The servers behind healthCheckNodePort.
//
// Threads: Update by one; answers come from others.
class ServiceHealthServers {
 public:
  ServiceHealthServers(const Context& ctx, const ProxyHealth& proxy) : ctx_(ctx), proxy_(proxy) {}

  // A port that cannot be listened on is logged, and tried again at the next change.
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

// As a load balancer gets it.
net::Response AnswerServiceHealth(const ObjectKey& service, int local_endpoints, bool healthy);

}  // namespace cox::proxy

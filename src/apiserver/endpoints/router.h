// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/endpoints/componentstatus/component_status.h"
#include "apiserver/endpoints/discovery/discovery.h"
#include "apiserver/endpoints/health/health.h"
#include "apiserver/endpoints/openapi/openapi.h"
#include "apiserver/endpoints/reviews/issuer_discovery.h"
#include "apiserver/endpoints/reviews/reviews.h"
#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/request/call.h"
#include "base/clock.h"
#include "base/metrics.h"

namespace cox::apiserver {

class PriorityAndFairness;

// Dispatches requests by path: resources, discovery, health, version, metrics.
//
// Threads: constant after construction; Handle may be called concurrently and may block.
class Router {
 public:
  struct Parts {
    ResourceHandlers& resources;
    const Discovery& discovery;
    const OpenApi& openapi;
    const Health& health;
    const Reviews& reviews;
    const ComponentStatuses& components;
    const IssuerDiscovery& issuer;
    const MetricsRegistry& metrics;
    std::string server_address;  // the address that /api returns to clients
    VersionInfo version;
    Clock::WallTime started;                                      // for /statusz
    std::vector<std::pair<std::string, std::string>> flags = {};  // for /flagz
    const PriorityAndFairness* fairness = nullptr;                // null: disabled
  };
  explicit Router(Parts parts) : parts_(std::move(parts)) {}

  void Handle(const std::shared_ptr<Call>& call) const;

 private:
  Status Dispatch(const std::shared_ptr<Call>& call) const;
  // Serves discovery documents. Returns nullopt if the path is not a discovery path.
  std::optional<Status> HandleDiscovery(Call& call) const;
  Status HandleRoot(Call& call, bool core, const DiscoveryDocuments& documents) const;
  void RespondPaths(Call& call) const;
  void RespondStatusPage(Call& call) const;
  void RespondFlags(Call& call) const;
  bool IsServed(std::string_view group) const;
  // Serves fixed paths such as /version and /metrics. Returns nullopt for any other path.
  std::optional<Status> HandleFixed(Call& call) const;

  const Parts parts_;
};

}  // namespace cox::apiserver

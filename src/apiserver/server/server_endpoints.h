// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/plugins/plugins.h"
#include "apiserver/endpoints/router.h"
#include "apiserver/endpoints/streaming/connector.h"
#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authz/authorization.h"
#include "apiserver/internal/client/service_resolver.h"
#include "apiserver/registry/served/registry.h"
#include "apiserver/server/server.h"

namespace cox::apiserver {

// All endpoints: the resource handlers with admission, discovery, OpenAPI, health and the other
// documents of the server, and the router that selects an endpoint.
//
// Threads: As its parts; Handle may be called concurrently and may block.
class ServerEndpoints {
 public:
  // The parts must outlive it.
  struct Parts {
    const ServerOptions& options;
    MetricsRegistry& metrics;
    const Registry& registry;
    const Authorization& authorization;
    const Authenticator& authenticator;
    std::shared_ptr<const ServiceAccountTokens> tokens;
    const PriorityAndFairness* fairness = nullptr;
    std::function<Status()> etcd_health;
    std::function<uint16_t()> own_port;  // 0: the server does not listen
    std::shared_ptr<const std::atomic<bool>> started;
    std::shared_ptr<const std::atomic<bool>> draining;
  };
  ServerEndpoints(const Context& ctx, const Parts& parts);

  void Handle(const std::shared_ptr<Call>& call) const { router_.Handle(call); }
  const AdmissionChain& admission() const { return admission_; }
  // Closes the connections to kubelets.
  void Stop() { connector_.Stop(); }

 private:
  AdmissionMetrics admission_metrics_;
  const std::shared_ptr<WebhookConnections> webhooks_;
  const AdmissionChain admission_;
  ResourceHandlers resources_;
  NodeConnector connector_;
  const Reviews reviews_;
  const ComponentStatuses components_;
  const IssuerDiscovery issuer_;
  const Discovery discovery_;
  const OpenApi openapi_;
  const Health health_;
  const Router router_;
};

}  // namespace cox::apiserver

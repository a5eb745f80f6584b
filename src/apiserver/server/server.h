// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/admission/admission_config.h"
#include "apiserver/endpoints/componentstatus/component_status.h"
#include "apiserver/endpoints/health/health.h"
#include "apiserver/endpoints/streaming/kubelet_options.h"
#include "apiserver/filters/audit/events/options.h"
#include "apiserver/filters/authn/authentication.h"
#include "apiserver/filters/authz/authorizer/authorization_options.h"
#include "apiserver/filters/fairness/gate.h"
#include "apiserver/internal/client/loopback_tokens.h"
#include "base/context.h"
#include "base/metrics.h"
#include "net/server.h"
#include "storage/store.h"

namespace cox::apiserver {

class Registry;

// The dependencies and flags of an API server.
struct ServerOptions {
  net::ServerOptions listen;
  bool listen_on_network = true;  // false: requests come only through ApiServer::handler()
  std::string advertise_address;  // "10.0.0.1:6443"; empty: the listening address
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  std::string etcd_prefix = "/registry";
  std::vector<std::string> service_cluster_ip_ranges = {"10.0.0.0/24"};  // one per IP family
  std::string service_node_port_range = "30000-32767";
  ServiceAccountTokenOptions service_accounts;
  std::vector<std::string> enabled_admission_plugins;  // in addition to the default ones
  std::vector<std::string> disabled_admission_plugins;
  AuditOptions audit;
  PluginConfigs admission_configs;
  std::chrono::seconds event_ttl{3600};
  std::chrono::seconds request_timeout{60};        // for requests that are not long-running
  std::chrono::seconds min_request_timeout{1800};  // for watches
  std::chrono::seconds shutdown_delay{0};          // between failing /readyz and draining
  FairnessOptions fairness;
  KubeletClientOptions kubelets;
  ComponentPorts component_ports;  // for componentstatuses
  // Tokens of callers inside the process. Set if such tokens outlive the server; null: the server
  // creates its own.
  std::shared_ptr<LoopbackTokens> loopback_tokens;
  std::vector<HealthCheck> storage_checks;  // of services between this server and etcd, such as KMS
  std::vector<std::pair<std::string, std::string>> flags = {};  // as given, for /flagz
};

// The API server: composes net, chain, handlers, admission and registry over a Store.
//
// Callers inside the process need no socket: they use handler(), and authenticate with a loopback
// token.
// Threads: All methods may be called concurrently.
// Lifetime: Start returns when the server is listening; it becomes ready (see /readyz) when its
//   caches are filled and the bootstrap objects exist. Drain it before destruction.
class ApiServer {
 public:
  // `storage` returns the Store of a resource ("events", "leases.coordination.k8s.io"); the stores
  // and `metrics` must outlive the server. Errors: BadRequest for invalid options.
  using StoreOf = std::function<storage::Store&(std::string_view group, std::string_view resource)>;
  static Result<std::unique_ptr<ApiServer>> Start(const Context& ctx, ServerOptions options,
                                                  StoreOf storage, MetricsRegistry& metrics);
  virtual ~ApiServer() = default;

  // 0 if it does not listen.
  virtual uint16_t port() const = 0;
  // For requests from inside the process, which pass through the same filter chain. Unlike other
  // handlers it may block, because it executes the request on the caller's thread. May be called at
  // any time; after the server has been destroyed the response is 503.
  virtual net::Handler handler() const = 0;
  // The tokens that authenticate callers inside the process: loopback_tokens().Add(user).
  virtual LoopbackTokens& loopback_tokens() = 0;
  // The served kinds; Registry::Apply changes them at run time.
  virtual Registry& registry() = 0;
  // Waits until the server is ready.
  virtual Status WaitReady(Context& ctx) = 0;
  // Fails /readyz, then waits for requests in flight.
  virtual Status Drain(Context& ctx) = 0;
};

}  // namespace cox::apiserver

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

// What an API server is made of and told.
struct ServerOptions {
  net::ServerOptions listen;
  bool listen_on_network = true;  // false: requests come by ApiServer::handler() only
  std::string advertise_address;  // "10.0.0.1:6443"; empty: as listened on
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  std::string etcd_prefix = "/registry";
  std::vector<std::string> service_cluster_ip_ranges = {"10.0.0.0/24"};  // one of each family
  std::string service_node_port_range = "30000-32767";
  ServiceAccountTokenOptions service_accounts;
  std::vector<std::string> enabled_admission_plugins;  // besides those on by default
  std::vector<std::string> disabled_admission_plugins;
  AuditOptions audit;
  PluginConfigs admission_configs;
  std::chrono::seconds event_ttl{3600};
  std::chrono::seconds request_timeout{60};        // of requests that are not to last
  std::chrono::seconds min_request_timeout{1800};  // of those that are: watches
  std::chrono::seconds shutdown_delay{0};  // between failing /readyz and letting requests end
  FairnessOptions fairness;
  KubeletClientOptions kubelets;
  // Of callers inside the process. Given where such tokens outlive the server; null: its own.
  std::shared_ptr<LoopbackTokens> loopback_tokens;
  std::vector<HealthCheck> storage_checks;  // of what is between us and etcd: key services
  std::vector<std::pair<std::string, std::string>> flags = {};  // as given, for /flagz
};

// The API server: composes net, chain, handlers, admission and registry over a Store.
//
// Callers inside the process need no socket: they use handler(), and are known by a token that the
// server gave them.
// Threads: all methods may be called concurrently.
// Lifetime: Start returns when it listens; it becomes ready (see /readyz) when its caches are
//   filled and the bootstrap objects are there. Drain, then destroy.
class ApiServer {
 public:
  // `storage` gives the Store of a resource ("events", "leases.coordination.k8s.io"); the stores
  // and `metrics` outlive the server. BadRequest for options that make no sense.
  using StoreOf = std::function<storage::Store&(std::string_view group, std::string_view resource)>;
  static Result<std::unique_ptr<ApiServer>> Start(const Context& ctx, ServerOptions options,
                                                  StoreOf storage, MetricsRegistry& metrics);
  virtual ~ApiServer() = default;

  // 0: it does not listen.
  virtual uint16_t port() const = 0;
  // For requests from inside the process, which meet the same chain as all others. Unlike other
  // handlers it may block: it works on the caller's thread, for whoever waits for the answer. May
  // be called at any time, also when the server is gone: then the answer is 503.
  virtual net::Handler handler() const = 0;
  // By these it knows callers inside the process: loopback_tokens().Add(user).
  virtual LoopbackTokens& loopback_tokens() = 0;
  // The kinds that it serves; Registry::Apply changes them while it runs.
  virtual Registry& registry() = 0;
  // OK when it is ready to serve.
  virtual Status WaitReady(Context& ctx) = 0;
  // Fails readyz, then lets requests in flight come to their end.
  virtual Status Drain(Context& ctx) = 0;
};

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/metrics.h"
#include "base/watched_file.h"
#include "base/worker_pool.h"
#include "coxswain/client.h"
#include "kubelet/server/auth/authentication.h"
#include "kubelet/server/auth/authorization.h"
#include "kubelet/server/handlers.h"
#include "net/server.h"
#include "object/type/value.h"

namespace cox::kubelet {

struct NodeServerOptions {
  std::string address = "0.0.0.0";
  uint16_t port = 10250;  // 0: any
  // Reloaded when they change. Empty: a self-signed certificate is generated at start.
  std::string tls_cert_file;
  std::string tls_private_key_file;
  int tls_min_version = 0x0303;                // TLS 1.2
  std::vector<std::string> tls_cipher_suites;  // as in net::ServerTls
  std::vector<std::string> ips;                // in the generated certificate
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  // If false, these endpoints are not served: exec, attach, portForward, run, containerLogs,
  // runningpods and configz.
  bool enable_debugging_handlers = true;
  std::chrono::milliseconds stream_idle_timeout = std::chrono::hours(4);  // 0: none
  std::string node_name;
  std::string root_dir = "/var/lib/kubelet";
  std::string machine_root;  // for tests
  Value configz;             // of /configz: the effective KubeletConfiguration
};

// The HTTPS server of a node, with upstream's endpoints: /healthz, /pods, /runningpods,
// /containerLogs, /exec, /attach, /portForward, /run, /metrics, /metrics/cadvisor,
// /metrics/resource, /metrics/probes, /stats/summary, /configz.
//
// Guarantees: unauthenticated requests get 401, unauthorized requests 403.
// Threads: all methods may be called concurrently.
// Ownership: all of Parts outlive it. The client may be null if neither tokens nor access are
//   reviewed.
class NodeServer {
 public:
  struct Parts {
    Client* client = nullptr;
    runtime::Runtime& runtime;
    PodManager& pods;
    MetricsRegistry& metrics;
  };
  static Result<std::unique_ptr<NodeServer>> Start(const Context& ctx, NodeServerOptions options,
                                                   Parts parts);
  ~NodeServer();
  NodeServer(const NodeServer&) = delete;
  NodeServer& operator=(const NodeServer&) = delete;

  uint16_t port() const { return server_->port(); }
  // The response of /healthz, also on the port without authentication.
  net::Response Healthz() const;

 private:
  struct Private {};

 public:
  NodeServer(Private, const Context& ctx, NodeServerOptions options, Parts parts);  // use Start()

 private:
  Status MakeTls();
  void Handle(net::ExchangePtr exchange);
  void Serve(const net::ExchangePtr& exchange);
  Status AuthenticateAndAuthorize(Context& ctx, const net::Request& request);
  void Dispatch(NodeCall call);
  net::Response Answer(Context& ctx, const NodeCall& call);
  net::Response UsageResponse(Context& ctx, Route::To to);

  Context ctx_;
  const NodeServerOptions options_;
  const Parts parts_;
  const HandlerParts handlers_;
  CounterVec& requests_;
  GaugeVec& inflight_;
  std::unique_ptr<Authentication> authentication_;
  Authorization authorization_;
  std::shared_ptr<const net::ServerTls> tls_;
  using Certificate = WatchedFile<net::CertificatePair>;
  std::unique_ptr<Certificate> certificate_;  // updates tls_ when the files change
  WorkerPool workers_;
  WorkerPool streams_;  // long-running: logs, exec, attach, port-forward
  std::unique_ptr<net::Server> server_;
};

}  // namespace cox::kubelet

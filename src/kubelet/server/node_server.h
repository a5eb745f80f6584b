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
  // Followed while the server runs. Empty: a certificate that it signs itself at its start.
  std::string tls_cert_file;
  std::string tls_private_key_file;
  std::string tls_min_version = "VersionTLS12";
  std::vector<std::string> ips;  // in the certificate that it makes
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  std::string node_name;
  std::string root_dir = "/var/lib/kubelet";
  std::string machine_root;  // for tests
  Value configz;             // of /configz: KubeletConfiguration as it is in force
};

// The HTTPS server of a node, with upstream's endpoints: /healthz, /pods, /runningpods,
// /containerLogs, /exec, /attach, /portForward, /run, /metrics, /metrics/cadvisor,
// /metrics/resource, /metrics/probes, /stats/summary, /configz.
//
// Guarantees: nothing is answered to those whom the options do not let in: 401 who they are, 403
//   what they may.
// Threads: all methods may be called concurrently.
// Ownership: all of Parts outlive it. The client may be null where nobody has to be asked.
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
  // What /healthz says, also on the port that needs no credentials.
  net::Response Healthz() const;

 private:
  struct Private {};

 public:
  NodeServer(Private, const Context& ctx, NodeServerOptions options, Parts parts);  // use Start()

 private:
  Status MakeTls();
  void Handle(net::ExchangePtr exchange);
  void Serve(const net::ExchangePtr& exchange);
  Status LetIn(Context& ctx, const net::Request& request);
  void Dispatch(NodeCall call);
  net::Response Answer(Context& ctx, const NodeCall& call);
  net::Response UsageAnswer(Context& ctx, Route::To to);

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
  std::unique_ptr<Certificate> certificate_;  // puts what changes into tls_
  WorkerPool workers_;
  WorkerPool streams_;  // what lasts: logs, exec, attach, port-forward
  std::unique_ptr<net::Server> server_;
};

}  // namespace cox::kubelet

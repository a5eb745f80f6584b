// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/fleet.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/rbac/v1.h"
#include "base/file_watch.h"
#include "base/random.h"
#include "net/client.h"
#include "net/io/event_loop.h"
#include "net/many_clients.h"
#include "net/url.h"
#include "simulate/node_life.h"
#include "simulate/pernode/shard.h"
#include "simulate/pernode/simulated_node.h"
#include "simulate/simulate.h"

namespace cox::simulate {
namespace {

constexpr uint16_t kHttpsPort = 443;
// Nodes of one loop that connect at the same time: enough to keep the server busy with handshakes.
constexpr int kStartsPerLoop = 32;
// No simulation runs longer.
constexpr int kCertificateDays = 1;

Result<net::ClientOptions> ServerOf(const Config& config) {
  COX_ASSIGN_OR_RETURN(const net::Url url, net::ParseUrl(config.server));
  if (url.scheme != "https") {
    return Status::BadRequest("the server must have TLS: nodes are identified by certificates");
  }
  if (!url.path.empty()) return Status::BadRequest("the server's URL must not have a path");
  net::ClientOptions options;
  options.host = url.host;
  options.port = url.port == 0 ? kHttpsPort : url.port;
  options.tls_options.insecure = config.insecure_skip_tls_verify;
  options.tls_options.server_name = config.tls_server_name;
  options.tls_options.ca_pem = config.ca_pem;
  if (!config.ca_file.empty()) {
    COX_ASSIGN_OR_RETURN(options.tls_options.ca_pem, ReadBoundedFile(config.ca_file));
  }
  return options;
}

// The nodes of one loop.
class Group {
 public:
  Group(const Context& ctx, std::shared_ptr<net::EventLoop> loop, const FleetOptions& options,
        const net::ClientFactory& clients, const net::CertificateIssuer& issuer,
        PerNodeMetrics& metrics, PodAddresses& addresses)
      : context_(ctx),
        loop_(std::move(loop)),
        options_(options),
        clients_(clients),
        issuer_(issuer),
        shard_{.options = options.nodes,
               .clock = ctx.clock(),
               .log = ctx.log(),
               .metrics = metrics,
               .addresses = addresses,
               .random = RandomFraction,
               .post = [loop = loop_.get()](
                           std::function<void()> work) { loop->Post(std::move(work)); },
               .starts = Permits(kStartsPerLoop),
               .pod_writes = Permits(std::max(1, options.pod_writes / options.loops))} {}

  // REQUIRES: the loop has stopped.
  ~Group() = default;

  // Starts the nodes `first`, `first` + `step`, ...
  void Start(int first, int step) {
    loop_->Post([this, first, step] {
      for (int number = first; number < options_.nodes.nodes; number += step) {
        shard_.starts.Acquire([this, number] { return StartNode(number); });
      }
    });
  }
  net::EventLoop& loop() { return *loop_; }

 private:
  // Returns whether the node uses its permit.
  bool StartNode(int number) {
    auto client = Connect(NodeName(options_.nodes, number));
    if (!client.ok()) {
      COX_ERROR(context_.log(), client.status(), "Node is not started", {"number", number});
      return false;
    }
    nodes_.push_back(std::make_unique<SimulatedNode>(shard_, number, *std::move(client)));
    nodes_.back()->Start([this] { shard_.starts.Release(); });
    return true;
  }

  Result<std::unique_ptr<net::Client>> Connect(const std::string& name) {
    net::CertificateRequest request;
    request.common_name = "system:node:" + name;
    request.organizations = {"system:nodes"};
    request.days = kCertificateDays;
    request.client_auth = true;
    COX_ASSIGN_OR_RETURN(auto identity, issuer_.Issue(request, shard_.clock.Now()));
    return clients_.Make(std::move(identity), loop_);
  }

  const Context context_;
  const std::shared_ptr<net::EventLoop> loop_;
  const FleetOptions& options_;
  const net::ClientFactory& clients_;
  const net::CertificateIssuer& issuer_;
  Shard shard_;
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
};

class LoopFleet final : public Fleet {
 public:
  LoopFleet(FleetOptions options, std::unique_ptr<net::ClientFactory> clients,
            std::unique_ptr<net::CertificateIssuer> issuer, MetricsRegistry& metrics)
      : options_(std::move(options)),
        clients_(std::move(clients)),
        issuer_(std::move(issuer)),
        metrics_(metrics) {}
  ~LoopFleet() override {
    for (const auto& group : groups_) net::StopEventLoop(group->loop());
  }

  Status Begin(const Context& ctx) {
    for (int i = 0; i < options_.loops; ++i) {
      COX_ASSIGN_OR_RETURN(auto loop, net::StartEventLoop(ctx, "nodes-" + std::to_string(i)));
      groups_.push_back(std::make_unique<Group>(ctx, std::move(loop), options_, *clients_, *issuer_,
                                                metrics_, addresses_));
    }
    for (int i = 0; i < options_.loops; ++i) {
      groups_[static_cast<size_t>(i)]->Start(i, options_.loops);
    }
    return {};
  }

 private:
  const FleetOptions options_;
  const std::unique_ptr<net::ClientFactory> clients_;
  const std::unique_ptr<net::CertificateIssuer> issuer_;
  PerNodeMetrics metrics_;
  PodAddresses addresses_;
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace

Status AllowEndpointSlices(Context& ctx, Client& client) {
  rbac::v1::ClusterRoleBinding binding;
  binding.metadata.name = "coxswain-simulate:node-proxier";
  binding.roleRef = {.apiGroup = "rbac.authorization.k8s.io",
                     .kind = "ClusterRole",
                     .name = "system:node-proxier"};
  binding.subjects.push_back({.kind = "Group",
                              .apiGroup = "rbac.authorization.k8s.io",
                              .name = "system:nodes",
                              .namespace_ = {}});
  const Status created = client.Create(ctx, std::move(binding)).status();
  return created.Is(Reason::kAlreadyExists) ? Status() : created;
}

Result<std::unique_ptr<Fleet>> Fleet::Start(const Context& ctx, const Config& config,
                                            FleetOptions options, MetricsRegistry& metrics) {
  COX_RETURN_IF_ERROR(CheckOptions(options.nodes));
  if (options.loops < 1 || options.pod_writes < 1) {
    return Status::BadRequest("at least one loop and one Pod write are needed");
  }
  COX_ASSIGN_OR_RETURN(net::ClientOptions server, ServerOf(config));
  COX_ASSIGN_OR_RETURN(auto clients, net::ClientFactory::Create(std::move(server)));
  COX_ASSIGN_OR_RETURN(auto issuer, net::CertificateIssuer::Create(options.client_ca));
  auto fleet = std::make_unique<LoopFleet>(std::move(options), std::move(clients),
                                           std::move(issuer), metrics);
  COX_RETURN_IF_ERROR(fleet->Begin(ctx));
  return std::unique_ptr<Fleet>(std::move(fleet));
}

}  // namespace cox::simulate

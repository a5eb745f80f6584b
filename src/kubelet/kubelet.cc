// SPDX-License-Identifier: Apache-2.0
#include "kubelet/kubelet.h"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <utility>

#include "base/await_stop.h"
#include "base/host_name.h"
#include "base/scope.h"
#include "base/strings.h"
#include "kubelet/node/kernel_settings.h"
#include "kubelet/node/node_agent.h"
#include "kubelet/podworkers/pod_manager.h"
#include "net/bind_address.h"
#include "net/endpoint.h"
#include "object/selector/fields.h"
#include "runtime/cri/cri_runtime.h"

namespace cox::kubelet {
namespace {

using core::v1::Node;
using core::v1::Pod;
using core::v1::Service;

constexpr std::chrono::milliseconds kRuntimeRetry{100};
constexpr std::chrono::seconds kRuntimeTimeout{5};

// Restricted to this node's objects, because the node authorizer permits no others.
CacheOptions CacheFor(const std::string& node) {
  CacheOptions options;
  CacheScope pods;
  pods.fields = fields::Selector::OneTermEqual("spec.nodeName", node);
  CacheScope nodes;
  nodes.fields = fields::Selector::OneTermEqual("metadata.name", node);
  options.by_resource = {{Resource::Of<Pod>(), std::move(pods)},
                         {Resource::Of<Node>(), std::move(nodes)}};
  return options;
}

class Kubelet {
 public:
  Kubelet(const Context& ctx, Manager& manager, const KubeletOptions& options,
          runtime::Runtime& runtime)
      : ctx_(ctx),
        manager_(manager),
        options_(options),
        runtime_(runtime),
        cache_(Cache::Create(ctx, manager.client(), CacheFor(options.pods.node_name))),
        client_(cache_->WritingThrough(manager.client())),
        nodes_(cache_->ListerOf<Node>()),
        services_(cache_->ListerOf<Service>()),
        agent_(options.node, {.client = *client_,
                              .runtime = runtime,
                              .events = &manager.events(),
                              .pods_ready = [this] { return PodsReady(); },
                              .cached = [this] { return ThisNode(); },
                              .machine_root = {}}) {}

  Status Run(Context& ctx) {
    // Register the node first, because it takes the longest to become Ready.
    Scope scope(ctx, "kubelet");
    COX_RETURN_IF_ERROR(scope.Go("node", [&](Context& run) { Note(&scope, agent_.Run(run)); }));
    Context run = scope.context().Child();  // also cancelled when the node agent fails
    Status done = RunPods(run, &scope);
    scope.Stop();
    scope.Wait();
    MutexLock lock(mu_);
    return failed_.ok() ? done : failed_;
  }

 private:
  std::shared_ptr<const Node> ThisNode() const { return nodes_.Get({"", options_.pods.node_name}); }
  Status PodsReady() const {
    const PodManager* pods = ready_pods_.load();
    if (pods == nullptr) {
      return Status::Unavailable("container runtime status check may not have completed yet");
    }
    return pods->Ready();
  }
  void Note(Scope* scope, const Status& ended) {
    if (ended.ok() || scope->stop_requested()) return;
    {
      MutexLock lock(mu_);
      if (failed_.ok()) failed_ = ended;
    }
    scope->Stop(ended);
  }

  // The cgroup driver is configured in the runtime, so this waits for its response. Until then the
  // node is NotReady with a message.
  Result<Options> RuntimeCgroupDriver(Context& ctx) {
    Options options = options_.pods;
    for (;;) {
      Context attempt = ctx.WithTimeout(kRuntimeTimeout);
      const auto driver = runtime_.GetCgroupDriver(attempt);
      if (driver.ok()) {
        if (*driver) options.cgroup_driver = **driver == 0 ? "systemd" : "cgroupfs";
        return options;
      }
      COX_V(ctx.log(), 2, "Waiting for the container runtime", {"why", driver.status().message()});
      COX_RETURN_IF_ERROR(ctx.Sleep(kRuntimeRetry));
    }
  }

  Result<std::unique_ptr<net::Endpoint>> ServeHealth(const NodeServer& server) {
    COX_ASSIGN_OR_RETURN(const auto address, net::ParseBindAddress(options_.healthz_address));
    if (!address) return std::unique_ptr<net::Endpoint>();
    return net::Endpoint::Start(
        ctx_, "kubelet-healthz", *address, [&server](Context&, const net::Request& request) {
          if (request.path() == "/healthz" || request.path() == "/healthz/") {
            return server.Healthz();
          }
          return TextResponse(404, "404 page not found\n");
        });
  }

  Status RunPods(Context& ctx, Scope* scope) {
    Result<Options> options = RuntimeCgroupDriver(ctx);
    if (!options.ok()) return ctx.Done() ? Status() : options.status();
    const std::unique_ptr<PodManager> pods = PodManager::Create(
        ctx, *options,
        {.client = *client_,
         .runtime = runtime_,
         .events = manager_.events(),
         .metrics = &manager_.metrics(),
         .services = [this](const std::string& ns) { return services_.List(ns); },
         .node = [this] { return ThisNode(); }});
    COX_ASSIGN_OR_RETURN(const auto server, NodeServer::Start(ctx, options_.server,
                                                              {.client = client_.get(),
                                                               .runtime = runtime_,
                                                               .pods = *pods,
                                                               .metrics = manager_.metrics()}));
    COX_ASSIGN_OR_RETURN(const auto health, ServeHealth(*server));
    COX_INFO(ctx.log(), "Serving", {"node", options_.pods.node_name}, {"port", server->port()});
    LogRotator rotator(options_.logs, runtime_);
    Status status = scope->Go("log-rotator", [&](Context& run) { rotator.Run(run); });
    if (status.ok()) status = scope->Go("pod-source", [&](Context& run) { Feed(run, *pods); });
    ready_pods_ = pods.get();
    agent_.Wake();
    if (status.ok()) status = pods->Run(ctx);
    ready_pods_ = nullptr;
    // Join the threads before the objects that they use are destroyed.
    scope->Stop();
    scope->Wait();
    return status;
  }

  // Forwards informer events to the Pod manager until `ctx` is cancelled.
  void Feed(Context& ctx, PodManager& pods) {
    const std::shared_ptr<SharedInformer> informer = cache_->Get(Resource::Of<Pod>());
    const InformerHandle of_pods = informer->AddHandler([&pods](const Delta& delta) {
      if (delta.type == Delta::Type::kDeleted) {
        pods.OnPodDeleted(As<Pod>(delta.before));
      } else {
        pods.OnPod(As<Pod>(delta.after));
      }
    });
    const InformerHandle of_node =
        cache_->Get(Resource::Of<Node>())->AddHandler([this](const Delta&) { agent_.Wake(); });
    if (!of_pods.WaitForSync(ctx).ok()) return;
    pods.OnPodsSynced();
    static_cast<void>(AwaitStop(ctx));
  }

  const Context ctx_;
  Manager& manager_;
  const KubeletOptions& options_;
  runtime::Runtime& runtime_;
  const std::unique_ptr<Cache> cache_;
  const std::unique_ptr<Client> client_;
  const Lister<Node> nodes_;
  const Lister<Service> services_;
  std::atomic<const PodManager*> ready_pods_ = nullptr;
  Mutex mu_;
  Status failed_ COX_GUARDED_BY(mu_);
  NodeAgent agent_;
};

Status RunKubelet(Context& ctx, Manager& manager, const KubeletOptions& options,
                  runtime::Runtime* given) {
  if (options.protect_kernel_defaults) COX_RETURN_IF_ERROR(CheckKernelDefaults());
  if (options.fail_swap_on) COX_RETURN_IF_ERROR(CheckSwapOff());
  std::unique_ptr<runtime::Runtime> connected;
  if (given == nullptr) {
    COX_ASSIGN_OR_RETURN(connected, runtime::ConnectCri(ctx, options.container_runtime_endpoint));
  }
  Kubelet kubelet(ctx, manager, options, given != nullptr ? *given : *connected);
  return kubelet.Run(ctx);
}

}  // namespace

Result<KubeletOptions> Complete(KubeletOptions options) {
  Options& pods = options.pods;
  if (pods.node_name.empty()) pods.node_name = LowerCaseHostName();
  if (pods.node_ips.empty()) pods.node_ips = {DefaultAddress()};
  COX_RETURN_IF_ERROR(Validate(pods));
  options.node.name = pods.node_name;
  options.node.ips = pods.node_ips;
  options.node.max_pods = pods.max_pods;
  options.node.root_dir = pods.root_dir;
  options.node.port = options.server.port;
  options.server.node_name = pods.node_name;
  options.server.ips = pods.node_ips;
  options.server.root_dir = pods.root_dir;
  options.logs.pod_logs_dir = pods.pod_logs_dir;
  const std::string& mode = options.server.authorization.mode;
  if (mode != "Webhook" && mode != "AlwaysAllow") {
    return Status::BadRequest("authorization-mode: " + Quote(mode) +
                              " must be Webhook or AlwaysAllow");
  }
  if (options.server.tls_cert_file.empty() != options.server.tls_private_key_file.empty()) {
    return Status::BadRequest(
        "tls-cert-file and tls-private-key-file belong together: give both or none");
  }
  if (options.logs.max_files < 2) {
    return Status::BadRequest("containerLogMaxFiles must be at least 2");
  }
  if (options.server.configz.is_null()) options.server.configz = KubeletConfigurationOf(options);
  return options;
}

Status AddKubelet(Manager& manager, KubeletOptions options, runtime::Runtime* runtime) {
  COX_ASSIGN_OR_RETURN(KubeletOptions complete, Complete(std::move(options)));
  return manager.Add(
      "kubelet",
      [&manager, options = std::move(complete), runtime](Context& ctx) {
        return RunKubelet(ctx, manager, options, runtime);
      },
      false);
}

}  // namespace cox::kubelet

// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/node.h"

#include <unistd.h>

#include <functional>
#include <utility>

#include "api/core/v1.h"
#include "base/replace_file.h"
#include "cmd/up/containerd_config.h"
#include "dns/dns.h"
#include "kubelet/kubelet.h"
#include "proxy/proxy.h"

namespace cox::cmd {
namespace {

using core::v1::Node;

// With systemd-resolved, /etc/resolv.conf contains a loopback address, which Pods cannot reach.
std::string ResolvConf() {
  constexpr const char* kResolved = "/run/systemd/resolve/resolv.conf";
  return ::access(kResolved, R_OK) == 0 ? kResolved : "/etc/resolv.conf";
}

// Calls `look` with the current Node and after each change, until it returns true.
Status FollowNode(Context& ctx, Client& client, const std::string& name,
                  const std::function<Result<bool>(const Node&)>& look) {
  WatchOptions options;
  COX_ASSIGN_OR_RETURN(options.list.fields, fields::Selector::Parse("metadata.name=" + name));
  options.send_initial_events = true;
  for (;;) {
    auto watch = client.Watch(ctx, Resource::Of<Node>(), options);
    while (watch.ok()) {
      const Result<WatchEvent<Object>> event = (*watch)->Next(ctx);
      if (!event.ok()) break;
      const Node* node = event->object == nullptr ? nullptr : event->object->As<Node>();
      if (node == nullptr || event->type == EventType::kDeleted) continue;
      COX_ASSIGN_OR_RETURN(const bool done, look(*node));
      if (done) return {};
    }
    // Restarts the watch, unless the context has stopped.
    COX_RETURN_IF_ERROR(ctx.Sleep(std::chrono::milliseconds(200)));
  }
}

Status WriteCniConfig(const UpOptions& options, std::string_view pod_cidr) {
  return ReplaceFile(options.paths.cni_config(), CniConflist(options.paths, pod_cidr),
                     /*secret=*/false);
}

// Writes the CNI configuration as early as possible: the first node of a cluster always gets the
// first range, so it does not have to wait for the allocation.
Status PrepareNetwork(Context& ctx, Client& admin, const UpOptions& options) {
  COX_ASSIGN_OR_RETURN(const ObjectList<Node> nodes, admin.List<Node>(ctx));
  if (nodes.items.empty()) return WriteCniConfig(options, options.first_pod_cidr);
  for (const Node& node : nodes.items) {
    if (node.metadata.name == options.node_name && !node.spec.podCIDR.empty()) {
      return WriteCniConfig(options, node.spec.podCIDR);
    }
  }
  return {};
}

Status KeepNetwork(Context& ctx, Client& client, const UpOptions& options) {
  std::string written;
  const Status status =
      FollowNode(ctx, client, options.node_name, [&](const Node& node) -> Result<bool> {
        if (node.spec.podCIDR.empty() || node.spec.podCIDR == written) return false;
        COX_RETURN_IF_ERROR(WriteCniConfig(options, node.spec.podCIDR));
        written = node.spec.podCIDR;
        return false;
      });
  return ctx.Done() ? Status() : status;
}

Status AddProxyPart(Components& components, const UpOptions& options) {
  ManagerOptions manager;
  manager.cache = proxy::ProxyCache();
  return components.Add(
      {.name = "kube-proxy",
       .identity = {"system:kube-proxy", {}},
       .manager = std::move(manager),
       .setup = [&options](Manager& made) {
         proxy::ProxyOptions wanted;
         wanted.node_name = options.node_name;
         wanted.node_ips = {options.node_ip};
         wanted.cluster_cidr = options.cluster_cidr;
         wanted.healthz_address = "0.0.0.0:" + std::to_string(options.ports.proxy_health);
         wanted.metrics_address = "127.0.0.1:" + std::to_string(options.ports.proxy_metrics);
         COX_RETURN_IF_ERROR(proxy::AddProxy(made, wanted));
         return made.Add(
             "pod-network",
             [&made, &options](Context& ctx) { return KeepNetwork(ctx, made.client(), options); },
             /*needs_leader_election=*/false);
       }});
}

Status AddDnsPart(Components& components, const UpOptions& options) {
  return components.Add(
      {.name = "dns", .identity = {"coxswain:dns", {}}, .setup = [&options](Manager& made) {
         dns::DnsOptions wanted = dns::NodeDnsOptions({options.dns_ip});
         wanted.cluster_domain = options.cluster_domain;
         wanted.resolv_conf = ResolvConf();
         wanted.metrics_address = "127.0.0.1:" + std::to_string(options.ports.dns_metrics);
         return dns::AddDns(made, wanted);
       }});
}

Status AddKubeletPart(Components& components, const UpOptions& options) {
  return components.Add({.name = "kubelet",
                         .identity = {"system:node:" + options.node_name, {"system:nodes"}},
                         .setup = [&options](Manager& made) {
                           const std::string pki = options.paths.pki();
                           kubelet::KubeletOptions wanted;
                           wanted.pods.node_name = options.node_name;
                           wanted.pods.node_ips = {options.node_ip};
                           wanted.pods.root_dir = options.paths.kubelet();
                           wanted.pods.pod_logs_dir = options.paths.pod_logs();
                           wanted.pods.cgroup_root = options.paths.cgroup_root();
                           // The cgroup driver of the runtime, which may be too old to report it.
                           wanted.pods.cgroup_driver = SystemdRuns() ? "systemd" : "cgroupfs";
                           wanted.pods.cluster_dns = {options.dns_ip};
                           wanted.pods.cluster_domain = options.cluster_domain;
                           wanted.pods.resolv_conf = ResolvConf();
                           wanted.server.port = options.ports.kubelet;
                           wanted.server.tls_cert_file = pki + "/kubelet.crt";
                           wanted.server.tls_private_key_file = pki + "/kubelet.key";
                           wanted.server.authentication.client_ca_file = pki + "/ca.crt";
                           wanted.container_runtime_endpoint =
                               options.runtime_endpoint.empty() ? options.paths.runtime_endpoint()
                                                                : options.runtime_endpoint;
                           wanted.healthz_address =
                               "127.0.0.1:" + std::to_string(options.ports.kubelet_health);
                           return kubelet::AddKubelet(made, std::move(wanted));
                         }});
}

}  // namespace

Status AddNode(Components& components, Client& admin, Context& ctx, const UpOptions& options) {
  COX_RETURN_IF_ERROR(PrepareNetwork(ctx, admin, options));
  // The kubelet first, because the node status takes the longest.
  COX_RETURN_IF_ERROR(AddKubeletPart(components, options));
  COX_RETURN_IF_ERROR(AddProxyPart(components, options));
  return AddDnsPart(components, options);
}

Status AwaitNodeReady(Context& ctx, Client& client, const std::string& name) {
  std::string last = "the node agent has not registered it";
  const Status status = FollowNode(ctx, client, name, [&](const Node& node) -> Result<bool> {
    for (const core::v1::NodeCondition& condition : node.status.conditions) {
      if (condition.type != "Ready") continue;
      last = condition.message;
      if (condition.status == "True") return true;
    }
    return false;
  });
  return status.WithContext("node " + name + " is not Ready (" + last + ")");
}

}  // namespace cox::cmd

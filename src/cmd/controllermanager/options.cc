// SPDX-License-Identifier: Apache-2.0
#include "cmd/controllermanager/options.h"

#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>

#include "base/file_watch.h"
#include "controllers/registry.h"
#include "object/scalar/time.h"

namespace cox::cmd {
namespace {

using controllers::Options;

constexpr FlagInfo kFlags[] = {
    {"Controllers", "controllers", "strings", "*",
     "Controllers to run: * for all that are enabled by default, name to enable one, -name to "
     "disable one"},
    {"Controllers", "use-service-account-credentials", "", "false",
     "Let each controller use its own service account in kube-system, with the permissions of its "
     "role (default: all use --kubeconfig)"},
    {"Controllers", "root-ca-file", "file", "",
     "CA certificates for the ConfigMap kube-root-ca.crt of every namespace"},
    {"Controllers", "service-account-private-key-file", "file", "",
     "Key for tokens in Secrets; the API server signs all other tokens", true},
    {"Controllers", "terminated-pod-gc-threshold", "int", "12500",
     "Number of terminated Pods that are kept; 0 for all"},
    {"Controllers", "min-resync-period", "duration", "12h0m0s", "Interval of resyncs; it is 10 h",
     true},

    {"Nodes", "node-monitor-period", "duration", "5s",
     "Interval of node checks; each node has a timer instead", true},
    {"Nodes", "node-monitor-grace-period", "duration", "50s",
     "Time without a heartbeat after which a node becomes Unknown"},
    {"Nodes", "node-startup-grace-period", "duration", "1m0s",
     "The same for a node that is starting"},
    {"Nodes", "node-eviction-rate", "float", "0.1",
     "Nodes per second whose Pods are evicted, if the zone is healthy"},
    {"Nodes", "secondary-node-eviction-rate", "float", "0.01",
     "Nodes per second whose Pods are evicted, if the zone is unhealthy"},
    {"Nodes", "unhealthy-zone-threshold", "float", "0.55",
     "Share of nodes that are not ready, from which a zone is unhealthy"},
    {"Nodes", "large-cluster-size-threshold", "int", "50",
     "Number of nodes up to which an unhealthy zone is not evicted at all"},
    {"Nodes", "allocate-node-cidrs", "", "false",
     "Assign each node a part of --cluster-cidr for its Pods"},
    {"Nodes", "cluster-cidr", "strings", "",
     "Address range of Pods: 10.244.0.0/16, or one range per IP family"},
    {"Nodes", "service-cluster-ip-range", "strings", "",
     "Address ranges of Services, which no node gets"},
    {"Nodes", "node-cidr-mask-size", "int", "0",
     "Prefix length of a node's range (default: 24, for IPv6 64)"},
    {"Nodes", "node-cidr-mask-size-ipv4", "int", "0",
     "Prefix length for IPv4 if there are two families"},
    {"Nodes", "node-cidr-mask-size-ipv6", "int", "0",
     "Prefix length for IPv6 if there are two families"},
    {"Nodes", "cidr-allocator-type", "string", "RangeAllocator",
     "Allocator of node ranges: RangeAllocator", true},
    {"Nodes", "configure-cloud-routes", "", "true", "Configure routes of the cloud provider", true},
    {"Nodes", "cloud-provider", "string", "", "Cloud provider: external or empty", true},

    {"Concurrency", "concurrent-deployment-syncs", "int", "5",
     "Number of Deployments that are synced at the same time"},
    {"Concurrency", "concurrent-replicaset-syncs", "int", "5",
     "Number of ReplicaSets that are synced at the same time"},
    {"Concurrency", "concurrent-job-syncs", "int", "5",
     "Number of Jobs that are synced at the same time"},
    {"Concurrency", "concurrent-endpoint-syncs", "int", "5",
     "Number of Services whose Endpoints are synced at the same time"},
    {"Concurrency", "concurrent-service-endpoint-syncs", "int", "5",
     "Number of Services whose EndpointSlices are synced at the same time"},
    {"Concurrency", "concurrent-namespace-syncs", "int", "10",
     "Number of Namespaces that are synced at the same time"},
    {"Concurrency", "concurrent-gc-syncs", "int", "20",
     "Number of objects that the garbage collector handles at the same time"},
    {"Concurrency", "concurrent-serviceaccount-token-syncs", "int", "5",
     "Number of namespaces whose service accounts are synced at the same time"},

    {"Compatibility", "cluster-name", "string", "kubernetes",
     "Name of the cluster for cloud providers", true},
    {"Compatibility", "cluster-signing-cert-file", "file", "",
     "CA certificate for signing certificates", true},
    {"Compatibility", "cluster-signing-key-file", "file", "", "CA key for signing certificates",
     true},
    {"Compatibility", "cluster-signing-duration", "duration", "8760h0m0s",
     "Duration of signed certificates", true},
    {"Compatibility", "flex-volume-plugin-dir", "dir", "", "Directory of volume plugins", true},
};

constexpr std::string_view kIntro =
    R"(coxswain controller-manager: runs the controllers (kube-controller-manager).

Usage:
  coxswain controller-manager [flags]

With --leader-elect (the default), one of several instances works; the others wait with filled caches. It runs until
SIGTERM or SIGINT, finishes the current work, and releases the Lease. Exit codes: 0 stopped by a signal, 1 failed or
no longer the leader (start it again), 2 wrong flags.

Examples:
  # as the user of a kubeconfig
  coxswain controller-manager --kubeconfig controller-manager.conf --root-ca-file ca.crt
  # each controller with only the permissions it needs, and an address range per node
  coxswain controller-manager --kubeconfig controller-manager.conf --use-service-account-credentials \
      --allocate-node-cidrs --cluster-cidr 10.244.0.0/16
  # all controllers but one; only two controllers
  coxswain controller-manager --controllers '*,-job-controller'
  coxswain controller-manager --controllers deployment-controller,replicaset-controller
)";

Result<std::chrono::milliseconds> DurationOf(const Flags& flags, std::string_view name) {
  const Result<Duration> duration = Duration::Parse(flags.Get(name));
  if (!duration.ok() || duration->nanos <= 0) {
    return Status::BadRequest("--" + std::string(name) + " must be a duration such as 50s, not " +
                              flags.Get(name));
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::nanoseconds(duration->nanos));
}

Result<double> NumberOf(const Flags& flags, std::string_view name) {
  const std::string text = flags.Get(name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0)) {
    return Status::BadRequest("--" + std::string(name) + "=" + text + ": want a number from 0 on");
  }
  return value;
}

Status ReadConcurrency(const Flags& flags, Options& options) {
  const std::pair<std::string_view, int*> numbers[] = {
      {"concurrent-deployment-syncs", &options.deployment.concurrent_syncs},
      {"concurrent-replicaset-syncs", &options.replica_set.concurrent_syncs},
      {"concurrent-job-syncs", &options.job.concurrent_syncs},
      {"concurrent-endpoint-syncs", &options.endpoints.concurrent_syncs},
      {"concurrent-service-endpoint-syncs", &options.endpoint_slice.concurrent_syncs},
      {"concurrent-namespace-syncs", &options.namespaces.concurrent_syncs},
      {"concurrent-gc-syncs", &options.garbage_collector.concurrent_syncs},
      {"concurrent-serviceaccount-token-syncs", &options.service_account.concurrent_syncs},
  };
  for (const auto& [flag, number] : numbers) {
    COX_ASSIGN_OR_RETURN(const int64_t value, flags.GetInt(flag, 1, 1000));
    *number = static_cast<int>(value);
  }
  return {};
}

Status ReadNodes(const Flags& flags, controllers::NodeLifecycleOptions& options) {
  COX_ASSIGN_OR_RETURN(options.monitor_grace_period,
                       DurationOf(flags, "node-monitor-grace-period"));
  COX_ASSIGN_OR_RETURN(options.startup_grace_period,
                       DurationOf(flags, "node-startup-grace-period"));
  COX_ASSIGN_OR_RETURN(options.eviction_rate, NumberOf(flags, "node-eviction-rate"));
  COX_ASSIGN_OR_RETURN(options.secondary_eviction_rate,
                       NumberOf(flags, "secondary-node-eviction-rate"));
  COX_ASSIGN_OR_RETURN(options.unhealthy_zone_threshold,
                       NumberOf(flags, "unhealthy-zone-threshold"));
  COX_ASSIGN_OR_RETURN(const int64_t large,
                       flags.GetInt("large-cluster-size-threshold", 0, 1 << 30));
  options.large_cluster_size_threshold = static_cast<int>(large);
  return {};
}

Status ReadCidrs(const Flags& flags, controllers::NodeIpamOptions& options) {
  options.allocate_node_cidrs = flags.GetBool("allocate-node-cidrs");
  options.cluster_cidrs = flags.GetList("cluster-cidr");
  options.service_cidrs = flags.GetList("service-cluster-ip-range");
  COX_ASSIGN_OR_RETURN(const int64_t mask, flags.GetInt("node-cidr-mask-size", 0, 128));
  COX_ASSIGN_OR_RETURN(const int64_t ipv4, flags.GetInt("node-cidr-mask-size-ipv4", 0, 32));
  COX_ASSIGN_OR_RETURN(const int64_t ipv6, flags.GetInt("node-cidr-mask-size-ipv6", 0, 128));
  if (mask != 0 && (ipv4 != 0 || ipv6 != 0 || options.cluster_cidrs.size() > 1)) {
    return Status::BadRequest(
        "--node-cidr-mask-size is for one range: for two there are --node-cidr-mask-size-ipv4 and "
        "--node-cidr-mask-size-ipv6");
  }
  options.mask_size_ipv4 = static_cast<int>(ipv4 != 0 ? ipv4 : mask);
  options.mask_size_ipv6 = static_cast<int>(ipv6 != 0 ? ipv6 : mask);
  return {};
}

}  // namespace

std::span<const FlagInfo> ControllerManagerFlags() { return kFlags; }

std::string ControllerManagerIntro() {
  std::string text(kIntro);
  text += "\nControllers:\n";
  for (const controllers::ControllerInfo& controller : controllers::AllControllers()) {
    text += "  " + std::string(controller.name);
    if (!controller.on_by_default) text += "  (off by default)";
    text += "\n";
  }
  return text;
}

Result<Options> ControllerOptionsFrom(const Flags& flags) {
  Options options;
  options.controllers = flags.GetList("controllers");
  if (const std::string path = flags.Get("root-ca-file"); !path.empty()) {
    Result<std::string> pem = ReadBoundedFile(path);
    if (!pem.ok()) return pem.status().WithContext("--root-ca-file");
    options.root_ca.root_ca_pem = *std::move(pem);
  }
  COX_ASSIGN_OR_RETURN(const int64_t ended,
                       flags.GetInt("terminated-pod-gc-threshold", 0, 1 << 30));
  options.pod_gc.terminated_pod_threshold = static_cast<int>(ended);
  COX_RETURN_IF_ERROR(ReadConcurrency(flags, options));
  COX_RETURN_IF_ERROR(ReadNodes(flags, options.node_lifecycle));
  COX_RETURN_IF_ERROR(ReadCidrs(flags, options.node_ipam));
  return options;
}

}  // namespace cox::cmd

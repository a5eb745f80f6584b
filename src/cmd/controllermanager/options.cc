// SPDX-License-Identifier: Apache-2.0
#include "cmd/controllermanager/options.h"

#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>

#include "controllers/registry.h"
#include "object/scalar/time.h"

namespace cox::cmd {
namespace {

using controllers::Options;

constexpr FlagInfo kFlags[] = {
    {"Controllers", "controllers", "strings", "*",
     "which to run: * for all that are on by default, name for one more, -name for one less"},
    {"Controllers", "use-service-account-credentials", "", "false",
     "each controller writes as its own service account of kube-system, with the rights of its "
     "role; else all with those of --kubeconfig"},
    {"Controllers", "root-ca-file", "file", "",
     "CA certificates that Pods find in the ConfigMap kube-root-ca.crt"},
    {"Controllers", "service-account-private-key-file", "file", "",
     "key for tokens in Secrets; the API server signs all others", true},
    {"Controllers", "terminated-pod-gc-threshold", "int", "12500",
     "how many Pods that have ended may stay; 0 for all"},
    {"Controllers", "min-resync-period", "duration", "12h0m0s",
     "how often all objects are looked at again; 10 h here", true},

    {"Nodes", "node-monitor-period", "duration", "5s",
     "how often upstream looks at nodes; here each has a timer"},
    {"Nodes", "node-monitor-grace-period", "duration", "50s",
     "how long a node may be silent before it is Unknown"},
    {"Nodes", "node-startup-grace-period", "duration", "1m0s", "the same for one that just starts"},
    {"Nodes", "node-eviction-rate", "float", "0.1",
     "nodes a second whose Pods are evicted, where most of a zone is well"},
    {"Nodes", "secondary-node-eviction-rate", "float", "0.01", "the same where it is not"},
    {"Nodes", "unhealthy-zone-threshold", "float", "0.55",
     "part of a zone's nodes that are not Ready from which it is not well"},
    {"Nodes", "large-cluster-size-threshold", "int", "50",
     "zones up to this size are not evicted at all while they are not well"},
    {"Nodes", "allocate-node-cidrs", "", "false",
     "give each node its part of --cluster-cidr for the addresses of its Pods"},
    {"Nodes", "cluster-cidr", "strings", "",
     "where Pods' addresses are from: 10.244.0.0/16, or one range of each IP family"},
    {"Nodes", "service-cluster-ip-range", "strings", "", "ranges of Services, which no node gets"},
    {"Nodes", "node-cidr-mask-size", "int", "0", "bits of a node's part: 24, for IPv6 64"},
    {"Nodes", "node-cidr-mask-size-ipv4", "int", "0", "the same where there are both families"},
    {"Nodes", "node-cidr-mask-size-ipv6", "int", "0", "the same where there are both families"},
    {"Nodes", "cidr-allocator-type", "string", "RangeAllocator", "who cuts: RangeAllocator", true},
    {"Nodes", "configure-cloud-routes", "", "true", "routes of a cloud", true},
    {"Nodes", "cloud-provider", "string", "", "external, or empty", true},

    {"Concurrency", "concurrent-deployment-syncs", "int", "5", "Deployments at once"},
    {"Concurrency", "concurrent-replicaset-syncs", "int", "5", "ReplicaSets at once"},
    {"Concurrency", "concurrent-job-syncs", "int", "5", "Jobs at once"},
    {"Concurrency", "concurrent-endpoint-syncs", "int", "5", "Services at once, for Endpoints"},
    {"Concurrency", "concurrent-service-endpoint-syncs", "int", "5",
     "Services at once, for EndpointSlices"},
    {"Concurrency", "concurrent-namespace-syncs", "int", "10", "Namespaces at once"},
    {"Concurrency", "concurrent-gc-syncs", "int", "20", "objects at once, for garbage collection"},
    {"Concurrency", "concurrent-serviceaccount-token-syncs", "int", "5",
     "namespaces at once, for service accounts"},

    {"Upstream's", "cluster-name", "string", "kubernetes", "of clouds", true},
    {"Upstream's", "cluster-signing-cert-file", "file", "", "for signing certificates", true},
    {"Upstream's", "cluster-signing-key-file", "file", "", "for signing certificates", true},
    {"Upstream's", "cluster-signing-duration", "duration", "8760h0m0s", "of certificates", true},
    {"Upstream's", "flex-volume-plugin-dir", "dir", "", "volume plugins", true},
};

constexpr std::string_view kIntro =
    R"(The controllers: they watch the cluster and make it what its objects say.

Usage:
  coxswain controller-manager [flags]

Of several that run with --leader-elect (the default) one works, the others wait with warm caches. It runs until
SIGTERM or SIGINT, lets what it does end, and gives the Lease back. Exit codes: 0 stopped as asked, 1 failed or
no longer the leader (to be started anew), 2 wrong flags.

Examples:
  # beside an API server, as the user of a kubeconfig
  coxswain controller-manager --kubeconfig controller-manager.conf --root-ca-file ca.crt
  # each controller with no more rights than it needs, and a range of addresses for each node
  coxswain controller-manager --kubeconfig controller-manager.conf --use-service-account-credentials \
      --allocate-node-cidrs --cluster-cidr 10.244.0.0/16
  # all but one; one alone
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
  struct Knob {
    std::string_view flag;
    int Options::*value;
  };
  constexpr Knob kKnobs[] = {
      {"concurrent-deployment-syncs", &Options::concurrent_deployment_syncs},
      {"concurrent-replicaset-syncs", &Options::concurrent_replicaset_syncs},
      {"concurrent-job-syncs", &Options::concurrent_job_syncs},
      {"concurrent-endpoint-syncs", &Options::concurrent_endpoint_syncs},
      {"concurrent-service-endpoint-syncs", &Options::concurrent_service_endpoint_syncs},
      {"concurrent-namespace-syncs", &Options::concurrent_namespace_syncs},
      {"concurrent-gc-syncs", &Options::concurrent_gc_syncs},
      {"concurrent-serviceaccount-token-syncs", &Options::concurrent_serviceaccount_syncs},
  };
  for (const Knob& knob : kKnobs) {
    COX_ASSIGN_OR_RETURN(const int64_t value, flags.GetInt(knob.flag, 1, 1000));
    options.*knob.value = static_cast<int>(value);
  }
  return {};
}

Status ReadNodes(const Flags& flags, Options& options) {
  COX_ASSIGN_OR_RETURN(options.node_monitor_period, DurationOf(flags, "node-monitor-period"));
  COX_ASSIGN_OR_RETURN(options.node_monitor_grace_period,
                       DurationOf(flags, "node-monitor-grace-period"));
  COX_ASSIGN_OR_RETURN(options.node_startup_grace_period,
                       DurationOf(flags, "node-startup-grace-period"));
  COX_ASSIGN_OR_RETURN(options.node_eviction_rate, NumberOf(flags, "node-eviction-rate"));
  COX_ASSIGN_OR_RETURN(options.secondary_node_eviction_rate,
                       NumberOf(flags, "secondary-node-eviction-rate"));
  COX_ASSIGN_OR_RETURN(options.unhealthy_zone_threshold,
                       NumberOf(flags, "unhealthy-zone-threshold"));
  COX_ASSIGN_OR_RETURN(const int64_t large,
                       flags.GetInt("large-cluster-size-threshold", 0, 1 << 30));
  options.large_cluster_size_threshold = static_cast<int>(large);
  return {};
}

Status ReadCidrs(const Flags& flags, Options& options) {
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
  options.node_cidr_mask_size_ipv4 = static_cast<int>(ipv4 != 0 ? ipv4 : mask);
  options.node_cidr_mask_size_ipv6 = static_cast<int>(ipv6 != 0 ? ipv6 : mask);
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
    std::ifstream file(path, std::ios::binary);
    if (!file) return Status::NotFound("--root-ca-file: cannot read " + path);
    options.root_ca_pem = std::string(std::istreambuf_iterator<char>(file), {});
  }
  COX_ASSIGN_OR_RETURN(const int64_t ended,
                       flags.GetInt("terminated-pod-gc-threshold", 0, 1 << 30));
  options.terminated_pod_gc_threshold = static_cast<int>(ended);
  COX_RETURN_IF_ERROR(ReadConcurrency(flags, options));
  COX_RETURN_IF_ERROR(ReadNodes(flags, options));
  COX_RETURN_IF_ERROR(ReadCidrs(flags, options));
  return options;
}

}  // namespace cox::cmd

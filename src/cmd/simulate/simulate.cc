// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <utility>

#include "base/await_stop.h"
#include "base/file_watch.h"
#include "cmd/commands.h"
#include "cmd/component/component.h"
#include "object/scalar/time.h"
#include "simulate/pernode/fleet.h"
#include "simulate/simulate.h"

namespace cox::cmd {
namespace {

constexpr FlagInfo kFlags[] = {
    {"Nodes", "nodes", "int", "1", "Number of nodes"},
    {"Nodes", "prefix", "string", "sim-", "Prefix of the names of nodes; a number from 0 follows"},
    {"Nodes", "pods-per-node", "int", "110", "Number of Pods that a node can run, at most 250"},
    {"Nodes", "cpu", "quantity", "32", "CPU of a node"},
    {"Nodes", "memory", "quantity", "256Gi", "Memory of a node"},
    {"Nodes", "zones", "int", "3", "Number of different values of topology.kubernetes.io/zone"},
    {"Nodes", "node-labels", "key=value,...", "", "Additional labels of the nodes"},
    {"Nodes", "lease-duration", "duration", "40s",
     "Time without a heartbeat after which a node is not alive; Leases are renewed four times as "
     "often"},
    {"Nodes", "node-status-update-frequency", "duration", "5m0s",
     "Interval at which an unchanged node status is written"},
    {"Nodes", "fail", "names", "",
     "Names of nodes that register and then send no heartbeats, separated by commas"},
    {"Pods", "startup-delay", "duration", "0s", "Time from the binding of a Pod to Running"},
    {"Pods", "workers", "int", "16",
     "Number of Pod status writes at the same time, without --watch-per-node"},
    {"Load of real nodes", "watch-per-node", "", "false",
     "Give each node its own identity, connection, watches and writes, like a kubelet"},
    {"Load of real nodes", "cluster-signing-cert-file", "file", "",
     "Certificate of the CA that the API server trusts for clients; it signs the nodes' "
     "certificates (coxswain up: <data-dir>/pki/ca.crt)"},
    {"Load of real nodes", "cluster-signing-key-file", "file", "",
     "Key of that CA (coxswain up: <data-dir>/pki/ca.key)"},
    {"Load of real nodes", "max-pod-writes", "int", "256",
     "Number of Pod status writes and deletions at the same time; Lease renewals and node status "
     "never wait for them"},
    {"Load of real nodes", "loops", "int", "2", "Number of threads that serve the connections"},
};

constexpr std::string_view kIntro =
    R"(coxswain simulate: nodes without containers, thousands in one process, for tests of scale.

Usage:
  coxswain simulate --nodes N [flags]

Each node registers, becomes Ready and renews its Lease. Pods that are bound to it get an address and become Running
and Ready after the startup delay; Pods that are being deleted are removed. Annotations change the behaviour:

  on a Pod    coxswain.dev/startup-delay: 2s      from binding to Running
              coxswain.dev/run-for: 5s            then its containers exit; its restartPolicy applies
              coxswain.dev/exit-code: "1"         their exit code
              coxswain.dev/fail: NotReady         it runs, but does not become ready
              coxswain.dev/fail: ImagePullBackOff any other word: it waits forever, with this reason
  on a Node   coxswain.dev/fail: "true"           it sends no heartbeats, as without power

All nodes share one connection and one watch per kind, which costs the API server little. With --watch-per-node each
node costs what a real node costs: it has a client certificate for system:node:<name> in the group system:nodes, valid
for 24 hours and kept in memory (all nodes of the process share one ECDSA key), its own TLS connection, the watches of
kubelet and kube-proxy (its Pods, its Node, Services, EndpointSlices, and each ConfigMap and Secret of its Pods), and it
writes its status, Lease and Pods over that connection, so that the Node authorizer and NodeRestriction apply. The
user of the kubeconfig must be allowed to bind the role system:node-proxier to the group system:nodes, which lets the
nodes watch EndpointSlices. --secure-port serves metrics named coxswain_simulate_*.

Examples:
  coxswain simulate --nodes 1000 --kubeconfig admin.conf
  coxswain simulate --nodes 1000 --kubeconfig admin.conf --watch-per-node \
      --cluster-signing-cert-file pki/ca.crt --cluster-signing-key-file pki/ca.key
  kubectl annotate node sim-7 coxswain.dev/fail=true      # coxswain.dev/fail- repairs it
)";

Result<Clock::Duration> DurationOf(const Flags& flags, std::string_view name) {
  const Result<Duration> parsed = Duration::Parse(flags.Get(name));
  if (!parsed.ok() || parsed->nanos < 0) {
    return Status::BadRequest("--" + std::string(name) + " must be a duration such as 40s, not " +
                              flags.Get(name));
  }
  return Clock::Duration(parsed->nanos);
}

Result<std::chrono::seconds> SecondsUp(const Flags& flags, std::string_view name) {
  COX_ASSIGN_OR_RETURN(const Clock::Duration duration, DurationOf(flags, name));
  return std::chrono::ceil<std::chrono::seconds>(duration);
}

Result<simulate::Options> OptionsFrom(const Flags& flags) {
  simulate::Options options;
  COX_ASSIGN_OR_RETURN(const int64_t nodes, flags.GetInt("nodes", 1, simulate::kMaxNodes));
  COX_ASSIGN_OR_RETURN(const int64_t pods,
                       flags.GetInt("pods-per-node", 1, simulate::kMaxPodsPerNode));
  COX_ASSIGN_OR_RETURN(const int64_t zones, flags.GetInt("zones", 1, 1000));
  COX_ASSIGN_OR_RETURN(const int64_t workers, flags.GetInt("workers", 1, 256));
  options.nodes = static_cast<int>(nodes);
  options.pods_per_node = static_cast<int>(pods);
  options.zones = static_cast<int>(zones);
  options.workers = static_cast<int>(workers);
  options.prefix = flags.Get("prefix");
  options.cpu = flags.Get("cpu");
  options.memory = flags.Get("memory");
  for (const std::string& label : flags.GetList("node-labels")) {
    const size_t equals = label.find('=');
    if (equals == std::string::npos) {
      return Status::BadRequest("--node-labels: " + label + " is not key=value");
    }
    options.labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  for (std::string& name : flags.GetList("fail")) options.fail.insert(std::move(name));
  COX_ASSIGN_OR_RETURN(options.startup_delay, DurationOf(flags, "startup-delay"));
  COX_ASSIGN_OR_RETURN(options.lease_duration, SecondsUp(flags, "lease-duration"));
  COX_ASSIGN_OR_RETURN(options.status_period, SecondsUp(flags, "node-status-update-frequency"));
  return options;
}

Result<simulate::FleetOptions> FleetOptionsFrom(const Flags& flags) {
  simulate::FleetOptions options;
  COX_ASSIGN_OR_RETURN(options.nodes, OptionsFrom(flags));
  COX_ASSIGN_OR_RETURN(const int64_t writes, flags.GetInt("max-pod-writes", 1, 100'000));
  COX_ASSIGN_OR_RETURN(const int64_t loops, flags.GetInt("loops", 1, 64));
  options.pod_writes = static_cast<int>(writes);
  options.loops = static_cast<int>(loops);
  COX_ASSIGN_OR_RETURN(options.client_ca.certificate_pem,
                       ReadBoundedFile(flags.Get("cluster-signing-cert-file")));
  COX_ASSIGN_OR_RETURN(options.client_ca.key_pem,
                       ReadBoundedFile(flags.Get("cluster-signing-key-file")));
  return options;
}

// Flags that have no effect without --watch-per-node, or that it needs.
Status CheckFlags(const Flags& flags) {
  const bool per_node = flags.GetBool("watch-per-node");
  for (const char* name : {"cluster-signing-cert-file", "cluster-signing-key-file"}) {
    if (flags.Has(name) != per_node) {
      return Status::BadRequest("--watch-per-node and --" + std::string(name) + " belong together");
    }
  }
  for (const char* name : {"max-pod-writes", "loops"}) {
    if (flags.Has(name) && !per_node) {
      return Status::BadRequest("--" + std::string(name) + " needs --watch-per-node");
    }
  }
  if (flags.Has("workers") && per_node) {
    return Status::BadRequest(
        "--workers has no effect with --watch-per-node; see "
        "--max-pod-writes");
  }
  return {};
}

Status RunFleet(const Component& component) {
  COX_ASSIGN_OR_RETURN(simulate::FleetOptions options, FleetOptionsFrom(component.flags));
  COX_RETURN_IF_ERROR(simulate::CheckOptions(options.nodes));
  return component.manager.Add(
      "simulated-nodes",
      [&manager = component.manager, config = component.config,
       options = std::move(options)](Context& ctx) -> Status {
        COX_RETURN_IF_ERROR(simulate::AllowEndpointSlices(ctx, manager.client()));
        COX_ASSIGN_OR_RETURN(const auto fleet,
                             simulate::Fleet::Start(ctx, config, options, manager.metrics()));
        (void)AwaitStop(ctx);
        return {};
      });
}

}  // namespace

int RunSimulate(std::span<char* const> arguments) {
  ComponentOptions options;
  options.name = "coxswain-simulate";
  options.intro = kIntro;
  options.flags = kFlags;
  options.cache = simulate::CacheFor();
  options.check = CheckFlags;
  return RunComponent(arguments, options, [](const Component& component) -> Status {
    if (component.flags.GetBool("watch-per-node")) return RunFleet(component);
    COX_ASSIGN_OR_RETURN(const simulate::Options nodes, OptionsFrom(component.flags));
    return simulate::AddNodes(component.manager, nodes);
  });
}

}  // namespace cox::cmd

// SPDX-License-Identifier: Apache-2.0
#include "proxy/proxy.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/host_name.h"
#include "base/strings.h"
#include "cmd/commands.h"
#include "cmd/component/component.h"
#include "cmd/component/configured_arguments.h"
#include "cmd/duration_flag.h"
#include "cmd/proxy/config_file.h"
#include "object/scalar/time.h"

namespace cox::cmd {
namespace {

constexpr std::string_view kIntro =
    R"(coxswain proxy: the service proxy (kube-proxy in nftables mode). It forwards traffic to Services to their endpoints.

Usage:
  coxswain proxy [flags]

Examples:
  coxswain proxy --kubeconfig proxy.conf --hostname-override node-1 --cluster-cidr 10.244.0.0/16
  coxswain proxy --cleanup
)";

constexpr FlagInfo kFlags[] = {
    {"Proxy", "config", "file", "", "KubeProxyConfiguration file; flags take precedence"},
    {"Proxy", "hostname-override", "string", "", "Name of the Node (default: the host's name)"},
    {"Proxy", "proxy-mode", "string", "nftables", "Proxy mode: nftables"},
    {"Proxy", "cluster-cidr", "cidrs", "",
     "Address ranges of Pods, one per IP family; traffic from other addresses is masqueraded"},
    {"Proxy", "nodeport-addresses", "cidrs", "",
     "Addresses of this node that accept traffic to node ports; \"primary\" or empty: the "
     "addresses of the Node"},
    {"Proxy", "masquerade-all", "", "false", "Masquerade all traffic to cluster IPs"},
    {"Proxy", "iptables-masquerade-bit", "int", "14", "Bit of the packet mark, 0 to 31"},
    {"Proxy", "iptables-min-sync-period", "duration", "0s",
     "Minimum interval between transactions; changes in between are combined"},
    {"Proxy", "healthz-bind-address", "ip:port", "0.0.0.0:10256",
     "Address of /healthz and /livez, plain HTTP; 0 to disable"},
    {"Proxy", "metrics-bind-address", "ip:port", "127.0.0.1:10249",
     "Address of /metrics and /proxyMode, plain HTTP; 0 to disable"},
    {"Proxy", "detect-local-mode", "string", "ClusterCIDR",
     "How local Pods are recognized: ClusterCIDR"},
    {"Proxy", "oom-score-adj", "int", "-999", "OOM score of the proxy, if it may set it"},
    {"Proxy", "cleanup", "", "false", "Remove all rules of the proxy and exit"},
    {"Compatibility", "bind-address", "ip", "0.0.0.0", "Address; both IP families are served",
     true},
    {"Compatibility", "bind-address-hard-fail", "", "false", "Fail if a port is in use", true},
    {"Compatibility", "config-sync-period", "duration", "15m0s", "Interval of resyncs", true},
    {"Compatibility", "conntrack-max-per-core", "int", "", "Size of the connection tracking table",
     true},
    {"Compatibility", "conntrack-min", "int", "", "Size of the connection tracking table", true},
    {"Compatibility", "conntrack-tcp-timeout-close-wait", "duration", "",
     "Timeout of connection tracking", true},
    {"Compatibility", "conntrack-tcp-timeout-established", "duration", "",
     "Timeout of connection tracking", true},
    {"Compatibility", "iptables-localhost-nodeports", "", "false", "Node ports on 127.0.0.1", true},
    {"Compatibility", "iptables-sync-period", "duration", "30s",
     "Interval of full syncs; changes are applied immediately", true},
    {"Compatibility", "master", "url", "", "URL of the API server; use --kubeconfig", true},
    {"Compatibility", "show-hidden-metrics-for-version", "string", "",
     "Version whose hidden metrics are shown; none are hidden", true},
};

Result<proxy::ProxyOptions> OptionsFrom(const Flags& flags) {
  if (const std::string mode = flags.Get("proxy-mode"); mode != "nftables" && !mode.empty()) {
    return Status::BadRequest("--proxy-mode=" + mode +
                              " is not there: this proxy writes nf_tables. Leave the flag out, or "
                              "say nftables; rules that a proxy of another mode has left are "
                              "removed by its own --cleanup");
  }
  if (const std::string mode = flags.Get("detect-local-mode"); mode != "ClusterCIDR") {
    return Status::BadRequest("--detect-local-mode=" + mode +
                              " is not there: give the Pods' ranges by --cluster-cidr");
  }
  proxy::ProxyOptions options;
  options.node_name = flags.Get("hostname-override");
  if (options.node_name.empty()) options.node_name = LowerCaseHostName();
  options.node_port_addresses = flags.GetList("nodeport-addresses");
  options.cluster_cidr = flags.Get("cluster-cidr");
  options.masquerade_all = flags.GetBool("masquerade-all");
  COX_ASSIGN_OR_RETURN(const int64_t bit, flags.GetInt("iptables-masquerade-bit", 0, 31));
  options.masquerade_bit = static_cast<int>(bit);
  const Result<Duration> period = Duration::Parse(flags.Get("iptables-min-sync-period"));
  if (!period.ok() || period->nanos < 0) {
    return Status::BadRequest("--iptables-min-sync-period must be a duration such as 1s");
  }
  options.min_sync_period = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::nanoseconds(period->nanos));
  options.healthz_address = flags.Get("healthz-bind-address");
  options.metrics_address = flags.Get("metrics-bind-address");
  // An empty address disables the server, as in upstream.
  if (options.healthz_address.empty()) options.healthz_address = "0";
  if (options.metrics_address.empty()) options.metrics_address = "0";
  return options;
}

int Fail(const Status& status, int code) {
  std::fputs(("Error: " + status.message() + "\n").c_str(), stderr);
  return code;
}

}  // namespace

int RunProxy(std::span<char* const> arguments) {
  const auto configured = ConfiguredArguments::From(arguments, ReadProxyConfig);
  if (!configured.ok()) return Fail(configured.status(), 2);
  if (IsGiven(arguments, "cleanup") && !IsGiven(arguments, "cleanup=false") &&
      !IsGiven(arguments, "help")) {
    const Status status = proxy::CleanUp();
    return status.ok() ? 0 : Fail(status, 1);
  }
  ComponentOptions options;
  options.name = "kube-proxy";
  options.intro = kIntro;
  options.flags = kFlags;
  options.cache = proxy::ProxyCache();
  return RunComponent(configured->all(), options, [](const Component& component) -> Status {
    COX_ASSIGN_OR_RETURN(const proxy::ProxyOptions proxy, OptionsFrom(component.flags));
    COX_RETURN_IF_ERROR(ApplyOomScoreFlag(component));
    return proxy::AddProxy(component.manager, proxy);
  });
}

}  // namespace cox::cmd

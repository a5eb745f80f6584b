// SPDX-License-Identifier: Apache-2.0
#include "proxy/proxy.h"

#include <unistd.h>

#include <cstdio>
#include <string>

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
    R"(coxswain proxy: packets to Services go to their endpoints, as with kube-proxy in its mode nftables.

Usage:
  coxswain proxy [flags]

Examples:
  coxswain proxy --kubeconfig proxy.conf --hostname-override node-1 --cluster-cidr 10.244.0.0/16
  coxswain proxy --cleanup
)";

constexpr FlagInfo kFlags[] = {
    {"Proxy", "config", "file", "",
     "a KubeProxyConfiguration; flags that are given go before what it says"},
    {"Proxy", "hostname-override", "string", "", "the name of this Node; else the host's"},
    {"Proxy", "proxy-mode", "string", "nftables", "nftables"},
    {"Proxy", "cluster-cidr", "cidrs", "",
     "addresses of Pods, one range per family; who comes from elsewhere is masqueraded"},
    {"Proxy", "nodeport-addresses", "cidrs", "",
     "addresses of this node at which node ports answer; else those of the Node. primary means "
     "the same"},
    {"Proxy", "masquerade-all", "", "false", "masquerade all that goes to cluster IPs"},
    {"Proxy", "iptables-masquerade-bit", "int", "14", "the bit that marks packets, 0 to 31"},
    {"Proxy", "iptables-min-sync-period", "duration", "0s",
     "changes closer together than this go in one transaction"},
    {"Proxy", "healthz-bind-address", "ip:port", "0.0.0.0:10256",
     "/healthz and /livez, plain HTTP; 0 for none"},
    {"Proxy", "metrics-bind-address", "ip:port", "127.0.0.1:10249",
     "/metrics and /proxyMode, plain HTTP; 0 for none"},
    {"Proxy", "detect-local-mode", "string", "ClusterCIDR",
     "how Pods are told from others: ClusterCIDR"},
    {"Proxy", "cleanup", "", "false", "remove all rules that a proxy left here, and end"},
    {"Upstream's", "bind-address", "ip", "0.0.0.0", "both families are served", true},
    {"Upstream's", "bind-address-hard-fail", "", "false", "ports that are taken", true},
    {"Upstream's", "config-sync-period", "duration", "15m0s", "how often to list again", true},
    {"Upstream's", "conntrack-max-per-core", "int", "", "size of connection tracking", true},
    {"Upstream's", "conntrack-min", "int", "", "size of connection tracking", true},
    {"Upstream's", "conntrack-tcp-timeout-close-wait", "duration", "", "as the kernel has it",
     true},
    {"Upstream's", "conntrack-tcp-timeout-established", "duration", "", "as the kernel has it",
     true},
    {"Upstream's", "iptables-localhost-nodeports", "", "false", "never at 127.0.0.1", true},
    {"Upstream's", "iptables-sync-period", "duration", "30s", "changes go at once", true},
    {"Upstream's", "master", "url", "", "the API server; --kubeconfig names it", true},
    {"Upstream's", "oom-score-adj", "int", "-999", "of this process", true},
    {"Upstream's", "show-hidden-metrics-for-version", "string", "", "none is hidden", true},
};

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::string lower = name;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

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
  if (options.node_name.empty()) options.node_name = HostName();
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
  // Upstream's word for none.
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
    return proxy::AddProxy(component.manager, proxy);
  });
}

}  // namespace cox::cmd

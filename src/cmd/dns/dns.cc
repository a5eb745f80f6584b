// SPDX-License-Identifier: Apache-2.0
#include "dns/dns.h"

#include <string>

#include "cmd/commands.h"
#include "cmd/component/component.h"

namespace cox::cmd {
namespace {

constexpr std::string_view kIntro =
    R"(coxswain dns: the names of Services and Pods; other names are asked for elsewhere.

`coxswain up` has it in its process. Alone it is for nodes of other make, and for tests.

Usage:
  coxswain dns [flags]

Examples:
  coxswain dns --kubeconfig dns.conf --listen 127.0.0.1 --port 5353
  coxswain dns --kubeconfig dns.conf --listen 10.96.0.10 --add-addresses --forward 192.0.2.53
)";

constexpr FlagInfo kFlags[] = {
    {"DNS", "listen", "ips", "127.0.0.1", "addresses to listen on, UDP and TCP"},
    {"DNS", "port", "int", "53", "port to listen on"},
    {"DNS", "add-addresses", "", "false",
     "add these addresses to the loopback interface; they go when this program ends"},
    {"DNS", "cluster-domain", "string", "cluster.local", "what names of the cluster end in"},
    {"DNS", "cluster-dns", "ip", "", "at which address Pods reach it; else the first of --listen"},
    {"DNS", "forward", "ip[:port]s", "",
     "servers to ask for other names; else those of --resolv-conf; none for none"},
    {"DNS", "resolv-conf", "file", "/etc/resolv.conf",
     "where servers to ask are named; this server itself is passed over"},
    {"DNS", "ttl", "seconds", "30", "how long others may remember names of the cluster"},
    {"DNS", "metrics-bind-address", "ip:port", "127.0.0.1:9153",
     "/metrics, plain HTTP; 0 for none"},
};

Result<dns::DnsOptions> OptionsFrom(const Flags& flags) {
  dns::DnsOptions options;
  options.addresses = flags.GetList("listen");
  options.add_addresses = flags.GetBool("add-addresses");
  COX_ASSIGN_OR_RETURN(const int64_t port, flags.GetInt("port", 1, 65'535));
  options.port = static_cast<uint16_t>(port);
  options.cluster_domain = flags.Get("cluster-domain");
  options.cluster_dns_ip = flags.Get("cluster-dns");
  options.upstreams = flags.GetList("forward");
  options.resolv_conf = flags.Get("resolv-conf");
  if (options.upstreams == std::vector<std::string>{"none"}) {
    options.upstreams.clear();
    options.resolv_conf.clear();
  }
  COX_ASSIGN_OR_RETURN(const int64_t ttl, flags.GetInt("ttl", 0, 3600));
  options.ttl = static_cast<uint32_t>(ttl);
  options.metrics_address = flags.Get("metrics-bind-address");
  return options;
}

}  // namespace

int RunDns(std::span<char* const> arguments) {
  ComponentOptions options;
  options.name = "coxswain-dns";
  options.intro = kIntro;
  options.flags = kFlags;
  options.cache = dns::DnsCache();
  return RunComponent(arguments, options, [](const Component& component) -> Status {
    COX_ASSIGN_OR_RETURN(const dns::DnsOptions dns, OptionsFrom(component.flags));
    return dns::AddDns(component.manager, dns);
  });
}

}  // namespace cox::cmd

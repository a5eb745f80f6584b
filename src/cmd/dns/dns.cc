// SPDX-License-Identifier: Apache-2.0
#include "dns/dns.h"

#include <string>

#include "cmd/commands.h"
#include "cmd/component/component.h"

namespace cox::cmd {
namespace {

constexpr std::string_view kIntro =
    R"(coxswain dns: the cluster DNS server. It answers for names of Services and Pods and forwards other names.

`coxswain up` contains it. As a separate program it is for nodes of other distributions, and for tests.

Usage:
  coxswain dns [flags]

Examples:
  coxswain dns --kubeconfig dns.conf --listen 127.0.0.1 --port 5353
  coxswain dns --kubeconfig dns.conf --listen 10.96.0.10 --add-addresses --forward 192.0.2.53
)";

constexpr FlagInfo kFlags[] = {
    {"DNS", "listen", "ips", "127.0.0.1", "Addresses to listen on, UDP and TCP"},
    {"DNS", "port", "int", "53", "Port to listen on"},
    {"DNS", "add-addresses", "", "false",
     "Add the addresses to the loopback interface while the program runs"},
    {"DNS", "cluster-domain", "string", "cluster.local", "DNS domain of the cluster"},
    {"DNS", "cluster-dns", "ip", "",
     "Address with which Pods reach the server (default: the first of --listen)"},
    {"DNS", "forward", "ip[:port]s", "",
     "DNS servers for other names; \"none\" to disable (default: those of --resolv-conf)"},
    {"DNS", "resolv-conf", "file", "/etc/resolv.conf",
     "File with DNS servers for other names; this server is ignored in it"},
    {"DNS", "ttl", "seconds", "30",
     "Time in seconds for which clients may cache names of the cluster"},
    {"DNS", "metrics-bind-address", "ip:port", "127.0.0.1:9153",
     "Address of /metrics, plain HTTP; 0 to disable"},
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
  return RunComponent(arguments, options, [](const Component& component) -> Status {
    COX_ASSIGN_OR_RETURN(const dns::DnsOptions dns, OptionsFrom(component.flags));
    return dns::AddDns(component.manager, dns);
  });
}

}  // namespace cox::cmd

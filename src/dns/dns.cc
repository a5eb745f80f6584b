// SPDX-License-Identifier: Apache-2.0
#include "dns/dns.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "base/file_watch.h"
#include "base/strings.h"
#include "dns/link/loopback.h"
#include "dns/server/server.h"
#include "net/bind_address.h"
#include "net/endpoint.h"

namespace cox::dns {
namespace {

// REQUIRES: AddDns has validated the options.
std::vector<Upstream> FindUpstreams(const DnsOptions& options) {
  std::vector<Upstream> out;
  for (const std::string& text : options.upstreams) out.push_back(*ParseUpstream(text));
  if (out.empty() && !options.resolv_conf.empty()) {
    out = ParseResolvConf(ReadBoundedFile(options.resolv_conf).value_or(""));
  }
  // Exclude this server itself; the loop probe detects indirect loops.
  std::erase_if(out, [&](const Upstream& upstream) {
    const auto& own = options.addresses;
    return upstream.port == options.port &&
           (upstream.ip == options.cluster_dns_ip ||
            std::find(own.begin(), own.end(), upstream.ip) != own.end());
  });
  return out;
}

Status RunDns(Context& ctx, Manager& manager, const DnsOptions& options) {
  std::unique_ptr<LoopbackAddresses> added;  // destroyed last, after the servers
  if (options.add_addresses) {
    COX_ASSIGN_OR_RETURN(added, LoopbackAddresses::Add(options.addresses));
  }
  MetricsRegistry registry;
  Metrics metrics(registry);
  const std::unique_ptr<Source> source = MakeCacheSource(manager.cache());
  const Zone zone(
      {.domain = options.cluster_domain, .ttl = options.ttl, .server_ip = options.cluster_dns_ip},
      *source);
  ServerOptions server{.port = options.port, .forward = {.upstreams = FindUpstreams(options)}};
  std::vector<std::unique_ptr<Server>> servers;
  for (const std::string& address : options.addresses) {
    server.address = address;
    COX_ASSIGN_OR_RETURN(auto started, Server::Start(ctx, server, zone, metrics));
    servers.push_back(std::move(started));
  }
  std::unique_ptr<net::Endpoint> served;
  COX_ASSIGN_OR_RETURN(const auto where, net::ParseBindAddress(options.metrics_address));
  if (where) {
    COX_ASSIGN_OR_RETURN(
        served,
        net::Endpoint::Start(
            ctx, "dns-metrics", *where, [&](Context&, const net::Request& request) {
              net::Response response;
              if (request.path() != "/metrics") return net::Response{404};
              response.headers = {{"content-type", std::string(MetricsRegistry::kContentType)}};
              response.body.emplace_back(registry.Render());
              return response;
            }));
  }
  COX_INFO(ctx.log(), "Serving DNS", {"port", options.port},
           {"upstreams", server.forward.upstreams.size()});
  (void)ctx.Sleep(Clock::Duration::max());
  return {};
}

}  // namespace

DnsOptions NodeDnsOptions(const std::vector<std::string>& cluster_dns) {
  DnsOptions options;
  options.addresses = cluster_dns;
  options.add_addresses = true;
  return options;
}

Status AddDns(Manager& manager, const DnsOptions& given) {
  DnsOptions options = given;
  if (options.addresses.empty()) {
    return Status::BadRequest("the DNS server needs an address to listen on");
  }
  for (const std::string& text : options.upstreams) {
    if (!ParseUpstream(text)) {
      return Status::BadRequest(Quote(text) + " is not the address of a server, as 192.0.2.53 is");
    }
  }
  if (options.cluster_dns_ip.empty()) options.cluster_dns_ip = options.addresses.front();
  if (EncodeName(options.cluster_domain).empty()) {
    return Status::BadRequest(Quote(options.cluster_domain) + " is not a domain");
  }
  return manager.Add(
      "dns", [&manager, options](Context& ctx) { return RunDns(ctx, manager, options); }, false);
}

Status CleanUp() { return LoopbackAddresses::RemoveAll(); }

}  // namespace cox::dns

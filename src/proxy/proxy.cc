// SPDX-License-Identifier: Apache-2.0
#include "proxy/proxy.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/core/v1.h"
#include "api/discovery/v1.h"
#include "base/strings.h"
#include "net/bind_address.h"
#include "net/endpoint.h"
#include "proxy/metrics.h"
#include "proxy/proxier.h"

namespace cox::proxy {
namespace {

Result<std::vector<Prefix>> ParsePrefixes(const std::vector<std::string>& texts) {
  std::vector<Prefix> out;
  for (const std::string& text : texts) {
    const auto prefix = Prefix::Parse(text);
    if (!prefix) return Status::BadRequest(Quote(text) + " is not a CIDR such as 10.0.0.0/8");
    out.push_back(*prefix);
  }
  return out;
}

// The addresses of this machine's interfaces.
std::vector<Address> InterfaceAddresses() {
  std::vector<Address> out;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return out;
  for (const ifaddrs* it = list; it != nullptr; it = it->ifa_next) {
    if (it->ifa_addr == nullptr) continue;
    Address address;
    if (it->ifa_addr->sa_family == AF_INET) {
      const auto* in = reinterpret_cast<const sockaddr_in*>(it->ifa_addr);
      std::copy_n(reinterpret_cast<const uint8_t*>(&in->sin_addr), 4, address.bytes.begin());
    } else if (it->ifa_addr->sa_family == AF_INET6) {
      const auto* in = reinterpret_cast<const sockaddr_in6*>(it->ifa_addr);
      address.family = Family::kIpv6;
      std::copy_n(reinterpret_cast<const uint8_t*>(&in->sin6_addr), 16, address.bytes.begin());
    } else {
      continue;
    }
    out.push_back(address);
  }
  freeifaddrs(list);
  return out;
}

std::vector<Address> InterfaceAddressesIn(const std::vector<Prefix>& cidrs) {
  std::vector<Address> found = InterfaceAddresses();
  std::erase_if(found, [&](const Address& address) {
    return std::none_of(cidrs.begin(), cidrs.end(),
                        [&](const Prefix& cidr) { return cidr.Contains(address); });
  });
  return found;
}

Result<std::unique_ptr<net::Endpoint>> Serve(const Context& ctx, const std::string& name,
                                             const std::string& address,
                                             net::Endpoint::Answer answer) {
  COX_ASSIGN_OR_RETURN(const auto where, net::ParseBindAddress(address));
  if (!where) return std::unique_ptr<net::Endpoint>();
  return net::Endpoint::Start(ctx, name, *where, std::move(answer));
}

// Removes families that the kernel does not support, such as IPv6 if it is disabled.
Status RemoveUnsupportedFamilies(const Context& ctx, nft::Committer& kernel,
                                 std::vector<Family>* families) {
  Status last = Status::BadRequest("neither IPv4 nor IPv6 is to be proxied");
  std::erase_if(*families, [&](Family family) {
    nft::Batch batch(family, kTable);
    batch.AddTable();
    const Status status = kernel.Commit(batch);
    if (status.ok()) return false;
    last = status;
    COX_ERROR(ctx.log(), status, "Services of this family are not proxied",
              {"ipFamily", family == Family::kIpv4 ? "IPv4" : "IPv6"});
    return true;
  });
  return families->empty() ? last : Status();
}

Status RunProxy(Context& ctx, Manager& manager, const ProxyOptions& options,
                ProxierOptions proxier_options) {
  // A separate registry for the proxy's own port, as upstream.
  MetricsRegistry registry(MetricStyle::kComponent);
  Metrics metrics(registry);
  ProxyHealth health(ctx.clock(), metrics);
  COX_ASSIGN_OR_RETURN(const auto healthz, Serve(ctx, "proxy-healthz", options.healthz_address,
                                                 [&](Context&, const net::Request& request) {
                                                   return health.Answer(request);
                                                 }));
  COX_ASSIGN_OR_RETURN(const auto served_metrics,
                       Serve(ctx, "proxy-metrics", options.metrics_address,
                             [&](Context&, const net::Request& request) {
                               return RespondWithMetrics(registry, request);
                             }));
  COX_ASSIGN_OR_RETURN(const auto kernel, nft::Socket::Open());
  COX_RETURN_IF_ERROR(RemoveUnsupportedFamilies(ctx, *kernel, &proxier_options.families));
  Proxier proxier(std::move(proxier_options), manager.cache(), *kernel, metrics, health);
  NodeWatch node(ctx, manager.client(), options.node_name,
                 [&](const NodeFacts& facts) { proxier.SetNode(facts); });
  COX_RETURN_IF_ERROR(node.WaitSynced(ctx));
  return proxier.Run(ctx);
}

// Sets the addresses of node ports, unless they are those of the Node.
Status SetNodePortPlace(const ProxyOptions& options, ProxierOptions* out) {
  if (!options.node_port_addresses.empty()) {
    if (options.node_port_addresses == std::vector<std::string>{"primary"}) return {};
    COX_ASSIGN_OR_RETURN(const auto cidrs, ParsePrefixes(options.node_port_addresses));
    out->table.all_local =
        std::any_of(cidrs.begin(), cidrs.end(), [](const Prefix& cidr) { return cidr.bits == 0; });
    out->node_port_addresses = [cidrs] { return InterfaceAddressesIn(cidrs); };
    return {};
  }
  std::vector<Address> addresses;
  for (const std::string& ip : options.node_ips) {
    const auto address = Address::Parse(ip);
    if (!address) return Status::BadRequest(Quote(ip) + " is not an IP address");
    addresses.push_back(*address);
  }
  if (!addresses.empty()) out->node_port_addresses = [addresses] { return addresses; };
  return {};
}

}  // namespace

Status AddProxy(Manager& manager, const ProxyOptions& options) {
  if (options.node_name.empty()) return Status::BadRequest("the proxy needs the name of its node");
  if (options.masquerade_bit < 0 || options.masquerade_bit > 31) {
    return Status::BadRequest("the bit that marks packets must be within 0 and 31");
  }
  ProxierOptions proxier;
  COX_RETURN_IF_ERROR(SetNodePortPlace(options, &proxier));
  if (!options.cluster_cidr.empty()) {
    COX_ASSIGN_OR_RETURN(proxier.cluster_cidrs,
                         ParsePrefixes(Split(options.cluster_cidr, ',').ToStrings()));
  }
  proxier.node_name = options.node_name;
  if (options.ipv4) proxier.families.push_back(Family::kIpv4);
  if (options.ipv6) proxier.families.push_back(Family::kIpv6);
  proxier.table.masquerade_mark = uint32_t{1} << options.masquerade_bit;
  proxier.masquerade_all = options.masquerade_all;
  proxier.min_sync_period = options.min_sync_period;
  proxier.full_sync_period = options.full_sync_period;
  return manager.Add(
      "kube-proxy",
      [&manager, options, proxier](Context& ctx) {
        return RunProxy(ctx, manager, options, proxier);
      },
      false);
}

CacheOptions ProxyCache() {
  // Excludes objects that the proxy does not use, so that they are not sent to every node.
  CacheOptions options;
  CacheScope services{.labels =
                          *labels::Selector::Parse("!service.kubernetes.io/service-proxy-name")};
  options.by_resource.emplace_back(Resource::Of<core::v1::Service>(), services);
  CacheScope slices{
      .labels = *labels::Selector::Parse(
          "!service.kubernetes.io/headless,!service.kubernetes.io/service-proxy-name")};
  options.by_resource.emplace_back(Resource::Of<discovery::v1::EndpointSlice>(), slices);
  return options;
}

Status CleanUp() {
  COX_ASSIGN_OR_RETURN(const auto kernel, nft::Socket::Open());
  for (const Family family : {Family::kIpv4, Family::kIpv6}) {
    nft::Batch batch(family, kTable);
    batch.AddTable();  // otherwise the deletion fails if there is none
    batch.DeleteTable();
    Status status = kernel->Commit(batch);
    // A family that the kernel does not support has no rules.
    if (!status.ok() && !status.Is(Reason::kServiceUnavailable)) return status;
  }
  return {};
}

}  // namespace cox::proxy

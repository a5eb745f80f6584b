// SPDX-License-Identifier: Apache-2.0
#include "proxy/model/service_port.h"

#include <netinet/in.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace cox::proxy {
namespace {

using core::v1::Service;

constexpr std::string_view kProxyName = "service.kubernetes.io/service-proxy-name";
constexpr int kDefaultAffinitySeconds = 10'800;

std::optional<uint8_t> ProtocolNumber(std::string_view name) {
  if (name == "TCP" || name.empty()) return IPPROTO_TCP;
  if (name == "UDP") return IPPROTO_UDP;
  if (name == "SCTP") return IPPROTO_SCTP;
  return std::nullopt;
}

std::string_view ProtocolName(uint8_t number) {
  return number == IPPROTO_TCP ? "tcp" : number == IPPROTO_UDP ? "udp" : "sctp";
}

std::vector<Address> OfFamily(const List<std::string>& texts, Family family) {
  std::vector<Address> out;
  for (const std::string& text : texts) {
    const auto address = Address::Parse(text);
    if (address && address->family == family) out.push_back(*address);
  }
  return out;
}

std::optional<Address> ClusterIp(const Service& service, Family family) {
  List<std::string> texts = service.spec.clusterIPs;
  if (texts.empty()) texts.push_back(service.spec.clusterIP);
  const std::vector<Address> found = OfFamily(texts, family);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::vector<Address> LoadBalancerIps(const Service& service, Family family) {
  std::vector<std::string> texts;
  for (const auto& ingress : service.status.loadBalancer.ingress) {
    // With ipMode Proxy, traffic must pass through the load balancer.
    if (ingress.ipMode.value_or(core::v1::kLoadBalancerIPModeVIP) ==
        core::v1::kLoadBalancerIPModeVIP) {
      texts.push_back(ingress.ip);
    }
  }
  return OfFamily(texts, family);
}

// The fields that all ports share.
ServicePort MakeCommon(const Service& service, Family family, const Address& cluster_ip) {
  ServicePort out;
  out.ns = service.metadata.namespace_;
  out.service = service.metadata.name;
  out.family = family;
  out.cluster_ip = cluster_ip;
  out.external_ips = OfFamily(service.spec.externalIPs, family);
  if (service.spec.type == core::v1::kServiceTypeLoadBalancer) {
    out.load_balancer_ips = LoadBalancerIps(service, family);
    for (const std::string& text : service.spec.loadBalancerSourceRanges) {
      out.restricted = true;
      const auto range = Prefix::Parse(text);
      if (range && range->address.family == family) out.source_ranges.push_back(*range);
    }
  }
  out.external_local =
      service.spec.externalTrafficPolicy == core::v1::kServiceExternalTrafficPolicyLocal;
  out.internal_local = service.spec.internalTrafficPolicy.value_or("") ==
                       core::v1::kServiceInternalTrafficPolicyLocal;
  if (service.spec.sessionAffinity == "ClientIP") {
    out.affinity_seconds = kDefaultAffinitySeconds;
    const auto& config = service.spec.sessionAffinityConfig;
    if (config && config->clientIP && config->clientIP->timeoutSeconds) {
      out.affinity_seconds = *config->clientIP->timeoutSeconds;
    }
  }
  return out;
}

struct Candidate {
  Endpoint endpoint;
  bool ready = false;
  bool lingering = false;  // terminating, but still serving
  // Whether the topology hints match; none without hints.
  std::optional<bool> for_node;
  std::optional<bool> for_zone;
};

// Whether one of `hints` is `wanted`; none if there are no hints.
template <class Hint>
std::optional<bool> Meant(const List<Hint>& hints, const std::string& wanted) {
  if (hints.empty()) return std::nullopt;
  return !wanted.empty() && std::any_of(hints.begin(), hints.end(),
                                        [&](const Hint& hint) { return hint.name == wanted; });
}

void AddCandidates(const discovery::v1::EndpointSlice& slice, uint16_t port, const Placement& here,
                   std::vector<Candidate>* out) {
  for (const discovery::v1::Endpoint& endpoint : slice.endpoints) {
    if (endpoint.addresses.empty()) continue;
    const auto address = Address::Parse(endpoint.addresses.front());
    if (!address) continue;
    const bool ready = endpoint.conditions.ready.value_or(true);
    const bool serving = endpoint.conditions.serving.value_or(ready);
    const bool terminating = endpoint.conditions.terminating.value_or(false);
    Candidate candidate{.endpoint = {.address = *address,
                                     .port = port,
                                     .local = endpoint.nodeName.value_or("") == here.node},
                        .ready = ready,
                        .lingering = serving && terminating};
    if (endpoint.hints) {
      candidate.for_node = Meant(endpoint.hints->forNodes, here.node);
      candidate.for_zone = Meant(endpoint.hints->forZones, here.zone);
    }
    out->push_back(candidate);
  }
}

std::vector<Candidate> CandidatesOf(const ServicePort& port, const std::vector<SlicePtr>& slices,
                                    const Placement& here) {
  const std::string_view type = port.family == Family::kIpv4 ? "IPv4" : "IPv6";
  std::vector<Candidate> out;
  for (const SlicePtr& slice : slices) {
    if (slice->addressType != type) continue;
    for (const discovery::v1::EndpointPort& slice_port : slice->ports) {
      if (slice_port.name.value_or("") != port.port_name || !slice_port.port) continue;
      if (ProtocolNumber(slice_port.protocol.value_or("TCP")) != port.protocol) continue;
      AddCandidates(*slice, static_cast<uint16_t>(*slice_port.port), here, &out);
    }
  }
  return out;
}

// Ready endpoints; if there are none, those that are terminating but still serving.
std::vector<Endpoint> Usable(const std::vector<Candidate>& candidates, bool only_local) {
  std::set<Endpoint> ready;
  std::set<Endpoint> lingering;
  for (const Candidate& candidate : candidates) {
    if (only_local && !candidate.endpoint.local) continue;
    if (candidate.ready) ready.insert(candidate.endpoint);
    if (candidate.lingering) lingering.insert(candidate.endpoint);
  }
  const std::set<Endpoint>& chosen = ready.empty() ? lingering : ready;
  return {chosen.begin(), chosen.end()};
}

// The endpoints whose hints of one kind match. Empty if a ready endpoint lacks such hints: hints
// are set on all endpoints together, so they are being added or removed.
std::vector<Endpoint> Hinted(const std::vector<Candidate>& candidates,
                             std::optional<bool> Candidate::*hint) {
  std::set<Endpoint> meant;
  for (const Candidate& candidate : candidates) {
    if (!candidate.ready) continue;
    if (!(candidate.*hint)) return {};
    if (*(candidate.*hint)) meant.insert(candidate.endpoint);
  }
  return {meant.begin(), meant.end()};
}

// For traffic policy Cluster: endpoints whose hints match, else all.
std::vector<Endpoint> NearOrAll(const std::vector<Candidate>& candidates,
                                const std::vector<Endpoint>& all) {
  for (const auto hint : {&Candidate::for_node, &Candidate::for_zone}) {
    if (std::vector<Endpoint> near = Hinted(candidates, hint); !near.empty()) return near;
  }
  return all;
}

}  // namespace

std::string ServicePort::Name() const {
  return ns + "/" + service + "/" + std::string(ProtocolName(protocol)) + "/" + port_name;
}

bool IsProxied(const Service& service) {
  return service.spec.type != core::v1::kServiceTypeExternalName &&
         !service.spec.clusterIP.empty() && service.spec.clusterIP != "None" &&
         service.metadata.labels.find(kProxyName) == service.metadata.labels.end();
}

std::vector<ServicePort> MakeServicePorts(const Service& service,
                                          const std::vector<SlicePtr>& slices, Family family,
                                          const Placement& here) {
  std::vector<ServicePort> out;
  const std::optional<Address> cluster_ip = ClusterIp(service, family);
  if (!IsProxied(service) || !cluster_ip) return out;
  const ServicePort common = MakeCommon(service, family, *cluster_ip);
  for (const core::v1::ServicePort& from : service.spec.ports) {
    const std::optional<uint8_t> protocol = ProtocolNumber(from.protocol);
    if (!protocol) continue;
    ServicePort port = common;
    port.port_name = from.name;
    port.protocol = *protocol;
    port.port = static_cast<uint16_t>(from.port);
    port.node_port = static_cast<uint16_t>(from.nodePort);
    const std::vector<Candidate> candidates = CandidatesOf(port, slices, here);
    const std::vector<Endpoint> all = Usable(candidates, false);
    port.any_endpoints = !all.empty();
    // With both policies Local, Pods of this node still reach external addresses through all
    // endpoints.
    if (!port.internal_local || port.external()) {
      port.cluster_endpoints = NearOrAll(candidates, all);
    }
    if (port.internal_local || (port.external() && port.external_local)) {
      port.local_endpoints = Usable(candidates, true);
    }
    out.push_back(std::move(port));
  }
  return out;
}

int CountLocalReady(const std::vector<SlicePtr>& slices, const std::string& node) {
  std::set<std::string> addresses;
  for (const SlicePtr& slice : slices) {
    for (const discovery::v1::Endpoint& endpoint : slice->endpoints) {
      if (endpoint.nodeName.value_or("") == node && endpoint.conditions.ready.value_or(true) &&
          !endpoint.addresses.empty()) {
        addresses.insert(endpoint.addresses.front());
      }
    }
  }
  return static_cast<int>(addresses.size());
}

}  // namespace cox::proxy

// SPDX-License-Identifier: Apache-2.0
#include "proxy/rules/service_program.h"

#include <algorithm>

#include "proxy/nft/rule.h"
#include "proxy/rules/table.h"

namespace cox::proxy {
namespace {

using nft::RuleBuilder;
using nft::Verdict;

constexpr size_t kLongestName = 127;
// Up to this number, one rule per endpoint is used. A map is faster for many endpoints, but the
// kernel searches the sets of a table linearly: with ten thousand sets, loading the table takes
// minutes.
constexpr size_t kFewEndpoints = 16;

uint64_t Hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash ^ hash >> 29;
}

class ServiceProgram {
 public:
  ServiceProgram(const ServicePort& port, const ServiceRuleOptions& options)
      : port_(port), options_(options) {}

  Program Make() {
    Element(kClusterIps, std::string(port_.cluster_ip.view()), "");
    const bool internal_ok = !InternalEndpoints().empty();
    const bool external_ok = port_.external() && !port_.cluster_endpoints.empty();
    if (!port_.cluster_endpoints.empty() && (internal_ok || external_ok)) {
      AddBalancer("service", port_.cluster_endpoints);
    }
    if (!port_.local_endpoints.empty()) {
      AddBalancer("local", port_.local_endpoints);
    }
    if (external_ok) AddExternalChain();
    AddClusterIp(internal_ok);
    if (port_.external()) AddExternals(external_ok);
    if (port_.restricted && external_ok) AddFirewall();
    return std::move(program_);
  }

 private:
  RuleBuilder Rule() const { return RuleBuilder(port_.family); }
  std::string Chain(std::string_view kind) const { return ChainName(kind, port_.Name()); }
  std::string EndpointName(std::string_view kind, const Endpoint& endpoint,
                           const std::string& suffix = "") const {
    std::string address = endpoint.address.ToString();
    std::replace(address.begin(), address.end(), ':', '.');
    return ChainName(kind,
                     port_.Name() + "__" + address + "/" + std::to_string(endpoint.port) + suffix);
  }
  // The timeout is part of the name: a set with another timeout is another set, so that clients
  // that were remembered for the old timeout are forgotten.
  std::string AffinityName(const Endpoint& endpoint) const {
    return EndpointName("affinity", endpoint, "/" + std::to_string(port_.affinity_seconds) + "s");
  }
  const std::vector<Endpoint>& InternalEndpoints() const {
    return port_.internal_local ? port_.local_endpoints : port_.cluster_endpoints;
  }
  void AddRule(const std::string& chain, RuleBuilder& rule) {
    program_.chains[chain].push_back(rule.Take());
  }
  void Element(const std::string& set, std::string key, std::string verdict) {
    program_.elements[{set, std::move(key)}] = std::move(verdict);
  }
  std::string Key(const Address& address) const {
    return nft::AddressKey(address, port_.protocol, port_.port);
  }

  void AddEndpoint(const Endpoint& endpoint) {
    const std::string chain = EndpointName("endpoint", endpoint);
    if (program_.chains.contains(chain)) return;
    const auto host = static_cast<uint8_t>(endpoint.address.size() * 8);
    // Hairpin: if an endpoint connects to itself through the Service, its packets need another
    // source address.
    AddRule(chain, Rule()
                       .Source({.address = endpoint.address, .bits = host})
                       .Do(Verdict::Jump(kMarkForMasquerade)));
    if (port_.affinity_seconds > 0) {
      const std::string set = AffinityName(endpoint);
      const uint64_t milliseconds = uint64_t{1000} * port_.affinity_seconds;
      program_.sets[set] = {
          .name = set, .key = nft::KeyType::kAddress, .timeout_milliseconds = milliseconds};
      AddRule(chain, Rule().Remember(set, milliseconds));
    }
    AddRule(chain, Rule().Protocol(port_.protocol).Dnat(endpoint.address, endpoint.port));
  }

  // Adds a chain that selects one of `endpoints`.
  void AddBalancer(std::string_view kind, const std::vector<Endpoint>& endpoints) {
    const std::string chain = Chain(kind);
    program_.chains[chain];
    if (kind == "service" ? !port_.internal_local : port_.internal_local) AddMasquerade(chain);
    for (const Endpoint& endpoint : endpoints) {
      AddEndpoint(endpoint);
      if (port_.affinity_seconds == 0) continue;
      AddRule(chain, Rule()
                         .SourceIn(AffinityName(endpoint))
                         .Do(Verdict::Goto(EndpointName("endpoint", endpoint))));
    }
    if (endpoints.size() > kFewEndpoints) {
      ChooseByMap(kind, endpoints);
    } else {
      ChooseByRules(kind, endpoints);
    }
  }

  // One rule per endpoint: each takes 1/n of the connections, where n is the number of remaining
  // endpoints.
  void ChooseByRules(std::string_view kind, const std::vector<Endpoint>& endpoints) {
    auto left = static_cast<uint32_t>(endpoints.size());
    for (const Endpoint& endpoint : endpoints) {
      RuleBuilder rule = Rule();
      if (left > 1) rule.OneOf(left);
      AddRule(Chain(kind), rule.Do(Verdict::Goto(EndpointName("endpoint", endpoint))));
      --left;
    }
  }

  // Uses a verdict map for this Service port.
  void ChooseByMap(std::string_view kind, const std::vector<Endpoint>& endpoints) {
    const std::string map = ChainName("endpoints", port_.Name() + "__" + std::string(kind));
    program_.sets[map] = {.name = map, .key = nft::KeyType::kNumber, .verdicts = true};
    AddRule(Chain(kind), Rule().RandomMap(static_cast<uint32_t>(endpoints.size()), map));
    for (uint32_t i = 0; i < endpoints.size(); ++i) {
      Element(map, nft::NumberKey(i),
              nft::EncodeVerdict(Verdict::Goto(EndpointName("endpoint", endpoints[i]))));
    }
  }

  // Responses to clients outside of the cluster must return through this node.
  void AddMasquerade(const std::string& chain) {
    if (!options_.masquerade_all && !options_.cluster_cidr) return;
    if (!options_.masquerade_all && options_.cluster_cidr->address.family != port_.family) return;
    RuleBuilder rule = Rule();
    rule.Destination(port_.cluster_ip).Protocol(port_.protocol).DestinationPort(port_.port);
    if (!options_.masquerade_all) rule.Source(*options_.cluster_cidr, false);
    AddRule(chain, rule.Do(Verdict::Jump(kMarkForMasquerade)));
  }

  void AddExternalChain() {
    const std::string chain = Chain("external");
    if (!port_.external_local) {
      AddRule(chain, Rule().Do(Verdict::Jump(kMarkForMasquerade)));
      AddRule(chain, Rule().Do(Verdict::Goto(Chain("service"))));
      return;
    }
    // Local: the source address is preserved, so only endpoints of this node are used. Traffic from
    // the cluster is short-circuited to all endpoints, as for the cluster IP.
    const auto& cidr = options_.cluster_cidr;
    if (cidr && cidr->address.family == port_.family) {
      AddRule(chain, Rule().Source(*cidr).Do(Verdict::Goto(Chain("service"))));
    }
    AddRule(chain, Rule().LocalSource().Do(Verdict::Jump(kMarkForMasquerade)));
    AddRule(chain, Rule().LocalSource().Do(Verdict::Goto(Chain("service"))));
    if (!port_.local_endpoints.empty()) {
      AddRule(chain, Rule().Do(Verdict::Goto(Chain("local"))));
    }
  }

  void AddClusterIp(bool ok) {
    if (ok) {
      const char* kind = port_.internal_local ? "local" : "service";
      Element(kServiceIps, Key(port_.cluster_ip), nft::EncodeVerdict(Verdict::Goto(Chain(kind))));
    } else {
      Element(kNoEndpointServices, Key(port_.cluster_ip), NoEndpoints(port_.internal_local));
    }
  }

  // Rejects if the cluster has no endpoint. With policy Local, other nodes may have one: the packet
  // is dropped, so that the client retries elsewhere.
  std::string NoEndpoints(bool local) const {
    return local && port_.any_endpoints ? nft::EncodeVerdict(Verdict::Drop())
                                        : nft::EncodeVerdict(Verdict::Goto(kRejectChain));
  }

  void AddExternals(bool ok) {
    const std::string to = nft::EncodeVerdict(Verdict::Goto(Chain("external")));
    const std::string refused = NoEndpoints(port_.external_local);
    // The external chain of policy Local handles cluster traffic; other traffic falls through it
    // and is dropped here.
    const bool fails = !ok || (port_.external_local && port_.local_endpoints.empty());
    std::vector<Address> addresses = port_.external_ips;
    addresses.insert(addresses.end(), port_.load_balancer_ips.begin(),
                     port_.load_balancer_ips.end());
    for (const Address& address : addresses) {
      if (ok) Element(kServiceIps, Key(address), to);
      if (fails) Element(kNoEndpointServices, Key(address), refused);
    }
    if (port_.node_port == 0) return;
    const std::string key = nft::PortKey(port_.protocol, port_.node_port);
    if (ok) Element(kServiceNodePorts, key, to);
    if (fails) Element(kNoEndpointNodePorts, key, refused);
  }

  void AddFirewall() {
    if (port_.load_balancer_ips.empty()) return;
    const std::string chain = Chain("firewall");
    program_.chains[chain];
    for (const Prefix& range : port_.source_ranges) AddRule(chain, Rule().Source(range).Do({}));
    AddRule(chain, Rule().Do(Verdict::Drop()));
    for (const Address& address : port_.load_balancer_ips) {
      Element(kFirewallIps, Key(address), nft::EncodeVerdict(Verdict::Goto(chain)));
    }
  }

  const ServicePort& port_;
  const ServiceRuleOptions& options_;
  Program program_;
};

}  // namespace

std::string ChainName(std::string_view kind, const std::string& name) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string out(kind);
  out += '-';
  uint64_t hash = Hash(name);
  for (int i = 0; i < 8; ++i, hash >>= 5) out += kDigits[hash % 32];
  out += '-';
  out += name;
  if (out.size() > kLongestName) out.resize(kLongestName);
  return out;
}

Program MakeServiceProgram(const ServicePort& port, const ServiceRuleOptions& options) {
  return ServiceProgram(port, options).Make();
}

}  // namespace cox::proxy

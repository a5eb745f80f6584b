// SPDX-License-Identifier: Apache-2.0
#include "proxy/rules/table.h"

#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>

namespace cox::proxy {
namespace {

using nft::Batch;
using nft::Hook;
using nft::KeyType;
using nft::RuleBuilder;
using nft::Verdict;

constexpr int32_t kFilter = NF_IP_PRI_FILTER;
constexpr int32_t kDstNat = NF_IP_PRI_NAT_DST;
constexpr int32_t kSrcNat = NF_IP_PRI_NAT_SRC;

void AddMaps(Batch* batch) {
  batch->AddSet({.name = kClusterIps, .key = KeyType::kAddress});
  batch->AddSet({.name = kNodePortIps, .key = KeyType::kAddress});
  for (const char* name : {kServiceIps, kNoEndpointServices, kFirewallIps}) {
    batch->AddSet({.name = name, .key = KeyType::kAddressPort, .verdicts = true});
  }
  for (const char* name : {kServiceNodePorts, kNoEndpointNodePorts}) {
    batch->AddSet({.name = name, .key = KeyType::kPort, .verdicts = true});
  }
}

// Matches the addresses that accept node ports.
RuleBuilder AtNodePort(Family family, bool all_local) {
  RuleBuilder rule(family);
  if (!all_local) return std::move(rule.DestinationIn(kNodePortIps));
  const char* loopback = family == Family::kIpv4 ? "127.0.0.0/8" : "::1/128";
  return std::move(rule.LocalDestination().Destination(*Prefix::Parse(loopback), false));
}

void AddBaseChains(Family family, Batch* batch) {
  using Type = Hook::Type;
  struct Base {
    const char* name;
    Hook hook;
    std::vector<const char*> jumps;  // in filter chains for new connections only
  };
  // Source ranges are checked before DNAT, while the original destination is visible; packets that
  // still have a service address after DNAT have no endpoint.
  const Base chains[] = {
      {"filter-prerouting-pre-dnat",
       {Type::kFilter, NF_INET_PRE_ROUTING, kDstNat - 10},
       {"firewall-check"}},
      {"filter-output-pre-dnat",
       {Type::kFilter, NF_INET_LOCAL_OUT, kDstNat - 10},
       {"firewall-check"}},
      {"filter-input",
       {Type::kFilter, NF_INET_LOCAL_IN, kFilter},
       {"nodeport-endpoints-check", "service-endpoints-check"}},
      {"filter-forward",
       {Type::kFilter, NF_INET_FORWARD, kFilter},
       {"service-endpoints-check", "cluster-ips-check"}},
      {"filter-output",
       {Type::kFilter, NF_INET_LOCAL_OUT, kFilter},
       {"service-endpoints-check", "cluster-ips-check"}},
      {"nat-prerouting", {Type::kNat, NF_INET_PRE_ROUTING, kDstNat}, {"services"}},
      {"nat-output", {Type::kNat, NF_INET_LOCAL_OUT, kDstNat}, {"services"}},
      {"nat-postrouting", {Type::kNat, NF_INET_POST_ROUTING, kSrcNat}, {"masquerading"}},
  };
  for (const Base& chain : chains) {
    batch->AddBaseChain(chain.name, chain.hook);
    for (const char* to : chain.jumps) {
      RuleBuilder rule(family);
      if (chain.hook.type == Type::kFilter) rule.NewConnection();
      batch->AddRule(chain.name, rule.Do(Verdict::Jump(to)).Take());
    }
  }
}

}  // namespace

void ResetTable(Batch* batch) {
  batch->AddTable();  // otherwise the deletion fails if it does not exist
  batch->DeleteTable();
  batch->AddTable();
}

void ClearTable(const nft::Listing& listing, const std::set<std::string>& keep, Batch* batch) {
  // The kernel rejects the deletion of chains and sets that rules or elements reference.
  batch->FlushChains();
  for (const nft::Listing::Set& set : listing.sets) {
    if (set.is_verdict_map()) batch->FlushSet(set.name);
  }
  for (const std::string& chain : listing.chains) batch->DeleteChain(chain);
  for (const nft::Listing::Set& set : listing.sets) {
    if (!keep.contains(set.name)) batch->DeleteSet(set.name);
  }
}

void AddFrame(Family family, const TableOptions& options, Batch* batch) {
  AddMaps(batch);
  for (const char* name :
       {"firewall-check", "nodeport-endpoints-check", "service-endpoints-check",
        "cluster-ips-check", "services", "masquerading", kMarkForMasquerade, kRejectChain}) {
    batch->AddChain(name);
  }
  const auto add = [&](const char* chain, RuleBuilder& rule) {
    batch->AddRule(chain, rule.Take());
  };
  const auto rule = [family] { return RuleBuilder(family); };
  add("firewall-check", rule().AddressMap(kFirewallIps));
  add("nodeport-endpoints-check",
      AtNodePort(family, options.all_local).PortMap(kNoEndpointNodePorts));
  add("service-endpoints-check", rule().AddressMap(kNoEndpointServices));
  add("cluster-ips-check", rule().DestinationIn(kClusterIps).Reject());
  add("services", rule().AddressMap(kServiceIps));
  add("services", AtNodePort(family, options.all_local).PortMap(kServiceNodePorts));
  add(kMarkForMasquerade, rule().SetMark(options.masquerade_mark));
  add(kRejectChain, rule().Reject());
  add("masquerading", rule().NotMarked(options.masquerade_mark).Do({}));
  // Clear the mark, so that the packet is not masqueraded again if it re-enters the stack.
  add("masquerading", rule().ClearMark(options.masquerade_mark));
  add("masquerading", rule().Masquerade());
  AddBaseChains(family, batch);
  for (const Address& address : options.node_port_addresses) {
    if (address.family == family) batch->AddElement(kNodePortIps, address.view(), "");
  }
}

}  // namespace cox::proxy

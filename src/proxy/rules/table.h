// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/model/address.h"
#include "proxy/nft/batch.h"
#include "proxy/rules/program.h"

namespace cox::proxy {

inline constexpr std::string_view kTable = "kube-proxy";

// Maps and sets of the table, by the names that upstream gives them.
inline constexpr const char* kClusterIps = "cluster-ips";
inline constexpr const char* kNodePortIps = "nodeport-ips";
inline constexpr const char* kServiceIps = "service-ips";
inline constexpr const char* kServiceNodePorts = "service-nodeports";
inline constexpr const char* kNoEndpointServices = "no-endpoint-services";
inline constexpr const char* kNoEndpointNodePorts = "no-endpoint-nodeports";
inline constexpr const char* kFirewallIps = "firewall-ips";
// Chains.
inline constexpr const char* kMarkForMasquerade = "mark-for-masquerade";
inline constexpr const char* kRejectChain = "reject-chain";

// What is the same for all services.
struct TableOptions {
  // Addresses of this node at which node ports answer. `all_local`: every address it has, but for
  // loopback: neighbours can send to 127.0.0.1 too.
  std::vector<Address> node_port_addresses;
  bool all_local = false;
  uint32_t masquerade_mark = 1 << 14;  // --iptables-masquerade-bit=14
};

// The frame that packets come through: base chains, maps and what leads to them. With the table
// itself, which is there, and empty, after it.
void AddFrame(Family family, const TableOptions& options, nft::Batch* batch);

}  // namespace cox::proxy

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/model/address.h"
#include "proxy/nft/batch.h"
#include "proxy/rules/program.h"

namespace cox::proxy {

inline constexpr std::string_view kTable = "kube-proxy";

// Maps and sets of the table, with upstream's names.
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

// Options that apply to all Services.
struct TableOptions {
  // Addresses of this node that accept node ports. `all_local`: all of its addresses except
  // loopback, because neighbours can send packets to 127.0.0.1 too.
  std::vector<Address> node_port_addresses;
  bool all_local = false;
  uint32_t masquerade_mark = 1 << 14;  // --iptables-masquerade-bit=14
};

// Deletes and recreates the table. No packet sees a missing table, because the frame is added in
// the same transaction.
void ResetTable(nft::Batch* batch);
// Deletes everything in the table except the sets `keep`, whose elements stay.
void ClearTable(const nft::Listing& listing, const std::set<std::string>& keep, nft::Batch* batch);
// Adds the static part of an empty table: base chains, maps, and the rules that use them.
void AddFrame(Family family, const TableOptions& options, nft::Batch* batch);

}  // namespace cox::proxy

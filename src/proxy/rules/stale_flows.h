// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "proxy/nft/conntrack.h"
#include "proxy/rules/table_state.h"

namespace cox::proxy {

// Finds UDP flows with outdated translations. A flow exists while its sender sends, and keeps the
// translation of its first packet.
class StaleFlows {
 public:
  // `before`: the previous ports, including those of deleted Services; `now`: the current ones.
  // `node_addresses` are the addresses of node ports.
  StaleFlows(const ServicePorts& before, const ServicePorts& now,
             const std::vector<Address>& node_addresses);

  bool empty() const { return answers_.empty(); }
  bool Contains(const nft::Flow& flow) const;

 private:
  using Place = std::pair<Address, uint16_t>;
  // The valid endpoints for each destination.
  std::map<Place, std::set<Place>> answers_;
};

// Returns the UDP ports of `services`.
ServicePorts OnlyUdp(const ServicePorts& services);

}  // namespace cox::proxy

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

// Which flows of UDP lead where they should not any more. A flow lives as long as its sender goes
// on, and follows the rules of the time it began.
class StaleFlows {
 public:
  // `before`: what answered until now, gone Services too; `now`: what answers. Node ports answer at
  // `node_addresses`.
  StaleFlows(const ServicePorts& before, const ServicePorts& now,
             const std::vector<Address>& node_addresses);

  bool empty() const { return answers_.empty(); }
  bool Contains(const nft::Flow& flow) const;

 private:
  using Place = std::pair<Address, uint16_t>;
  // Who may answer at which address.
  std::map<Place, std::set<Place>> answers_;
};

// What of it is UDP.
ServicePorts OnlyUdp(const ServicePorts& services);

}  // namespace cox::proxy

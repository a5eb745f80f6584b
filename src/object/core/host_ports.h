// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "api/core/v1.h"

namespace cox::core_rules {

// A port of the node that a Pod takes.
struct HostPort {
  std::string ip;        // "0.0.0.0": on all addresses
  std::string protocol;  // "TCP"
  int32_t port = 0;

  auto operator<=>(const HostPort&) const = default;
};

// Whether not both can be had on one node.
bool Conflict(const HostPort& a, const HostPort& b);
bool AnyConflict(const std::vector<HostPort>& wanted, const std::vector<HostPort>& taken);

// Of main containers and sidecars: the others have ended when the Pod runs.
std::vector<HostPort> HostPortsOf(const core::v1::Pod& pod);

}  // namespace cox::core_rules

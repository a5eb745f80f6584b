// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "api/core/v1.h"

namespace cox::core_rules {

// A host port that a Pod uses.
struct HostPort {
  std::string ip;        // "0.0.0.0": all addresses
  std::string protocol;  // "TCP"
  int32_t port = 0;

  auto operator<=>(const HostPort&) const = default;
};

// Whether the two cannot be used on the same node.
bool Conflict(const HostPort& a, const HostPort& b);
bool AnyConflict(const std::vector<HostPort>& wanted, const std::vector<HostPort>& taken);

// The host ports of main containers and sidecars; other init containers have exited when the Pod
// runs.
std::vector<HostPort> HostPortsOf(const core::v1::Pod& pod);

}  // namespace cox::core_rules

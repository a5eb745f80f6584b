// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "api/core/v1.h"

// Computes the taints of a node from its conditions. Pure functions.
namespace cox::controllers {

inline constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kUnreachableTaint = "node.kubernetes.io/unreachable";

// The status of the Ready condition: "True", "False", "Unknown"; empty if there is none yet.
std::string_view ReadyStatus(const core::v1::Node& node);

// The NoExecute taint for the node's Ready status; empty for a ready node.
std::string_view EvictingTaint(const core::v1::Node& node);
bool HasEvictingTaint(const core::v1::Node& node);

enum class Eviction : uint8_t {
  kFromConditions,
  kNoMore,  // rate limited: an existing NoExecute taint may be replaced, none is added
  kNone,    // all zones are down, likely a fault of the control plane: no eviction
};

// Computes the node's taints. Taints of other writers and the order are kept. `now` is the
// timeAdded of new taints.
List<core::v1::Taint> TaintsFor(const core::v1::Node& node, Eviction eviction, const Time& now);

}  // namespace cox::controllers

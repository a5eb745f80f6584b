// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "api/core/v1.h"

// Which taints a node should have by what its conditions say. Pure functions.
namespace cox::controllers {

inline constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kUnreachableTaint = "node.kubernetes.io/unreachable";

// "True", "False", "Unknown"; empty if the node has not said yet.
std::string_view ReadyStatus(const core::v1::Node& node);

// The taint that evicts Pods from the node as it is; empty for one that is ready.
std::string_view EvictingTaint(const core::v1::Node& node);
bool HasEvictingTaint(const core::v1::Node& node);

enum class Eviction : uint8_t {
  kAsConditionsSay,
  kNoMore,  // one that is there may become the other; none is added: it is not the node's turn
  kNone,    // all is down, the fault is likely ours: evict from nowhere
};

// The node's taints as they should be; those that are none of our business stay, and so does the
// order. Taints that are added say so with `now`.
List<core::v1::Taint> TaintsFor(const core::v1::Node& node, Eviction eviction, const Time& now);

}  // namespace cox::controllers

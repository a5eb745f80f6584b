// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/coordination/v1.h"
#include "api/core/v1.h"
#include "base/clock.h"
#include "simulate/options.h"

namespace cox::simulate {

// Names and numbers of nodes: prefix and number. None if it is no name of these nodes.
std::string NodeName(const Options& options, int number);
std::optional<int> NodeNumber(const Options& options, std::string_view name);

// As a kubelet registers it: labels, capacity, Ready. REQUIRES: the options' amounts are quantities
core::v1::Node MakeNode(const Options& options, int number, Clock::WallTime now);

// Whether nothing is heard of it, as it stands in the cluster.
bool IsSilenced(const core::v1::Node& node);

// Whether the node has to tell its status again: it is not said to be ready, or was heard of too
// long ago. If not, when it will have to.
struct StatusDue {
  bool now = false;
  Clock::Duration again{};
};
StatusDue WhenToTell(const core::v1::Node& node, const Options& options, Clock::WallTime now);

core::v1::NodeStatus MakeStatus(const Options& options, int number, Clock::WallTime now);

coordination::v1::Lease MakeLease(const Options& options, const core::v1::Node& node,
                                  Clock::WallTime now);

// Until the node renews its Lease after `now`. Each has its own moment in the period, so that all
// of them together are an even load.
Clock::Duration UntilRenewal(const Options& options, int number, Clock::WallTime now);

}  // namespace cox::simulate

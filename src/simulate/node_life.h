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

// Node names consist of prefix and number. NodeNumber returns nullopt for names of other nodes.
std::string NodeName(const Options& options, int number);
std::optional<int> NodeNumber(const Options& options, std::string_view name);

// The Node as a kubelet registers it: labels, capacity, Ready. REQUIRES: the options' amounts are
// valid quantities.
core::v1::Node MakeNode(const Options& options, int number, Clock::WallTime now);

// Returns whether the Node's annotation disables its heartbeats.
bool IsSilenced(const core::v1::Node& node);

// `now`: the node status must be written, because the Node is not Ready or its last heartbeat is
// too old. Otherwise, `again` is the time until the next write.
struct StatusDue {
  bool now = false;
  Clock::Duration again{};
};
StatusDue NextHeartbeat(const core::v1::Node& node, const Options& options, Clock::WallTime now);

core::v1::NodeStatus MakeStatus(const Options& options, int number, Clock::WallTime now);
// A strategic merge patch of the node's status, for its heartbeat. Conditions that do not change
// keep the time of their last transition in `node`.
std::string StatusPatchOf(const Options& options, const core::v1::Node& node, int number,
                          Clock::WallTime now);

coordination::v1::Lease MakeLease(const Options& options, const core::v1::Node& node,
                                  Clock::WallTime now);

// The time until the node's next Lease renewal. Renewals of all nodes are spread evenly over the
// period.
Clock::Duration UntilRenewal(const Options& options, int number, Clock::WallTime now);

}  // namespace cox::simulate

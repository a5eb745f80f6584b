// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/v1.h"
#include "coxswain/options.h"
#include "object/scalar/time.h"
#include "scheduler/framework/plugin_status.h"

// The condition PodScheduled of a Pod that could not be scheduled.
namespace cox::scheduler {

core::v1::PodCondition NotScheduled(const core::v1::Pod& pod, const PluginStatus& plugin_status,
                                    std::string message, const Time& now);

// Returns a patch that sets the condition and nominatedNodeName in the Pod's status; nullopt if
// they are set already. Other conditions are unchanged. The patch fails with a conflict if the Pod
// has changed.
std::optional<Patch> StatusPatch(const core::v1::Pod& pod, const core::v1::PodCondition& condition,
                                 const std::string& nominated_node);

// Truncates the note to the maximum length of events.
std::string CutNote(std::string note);

}  // namespace cox::scheduler

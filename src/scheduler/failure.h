// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/v1.h"
#include "coxswain/options.h"
#include "object/scalar/time.h"
#include "scheduler/framework/verdict.h"

// What users see of a Pod that got no node: its condition PodScheduled.
namespace cox::scheduler {

core::v1::PodCondition NotScheduled(const core::v1::Pod& pod, const Verdict& verdict,
                                    std::string message, const Time& now);

// What brings the condition, and the node at which room is being made, to the Pod's status; none if
// it is there. Other conditions are left alone. Holds for this version of the Pod only.
std::optional<Patch> StatusPatch(const core::v1::Pod& pod, const core::v1::PodCondition& condition,
                                 const std::string& nominated_node);

// Events hold this much.
std::string CutNote(std::string note);

}  // namespace cox::scheduler

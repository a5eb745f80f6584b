// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/core/v1.h"

// Predicates on the status of a Pod. Pure functions.
namespace cox::core_rules {

// Whether the phase is terminal: Succeeded or Failed.
bool IsTerminal(const core::v1::Pod& pod);
bool IsTerminalPhase(std::string_view phase);

// Checks only the Ready condition, not the phase.
bool IsReady(const core::v1::Pod& pod);

}  // namespace cox::core_rules

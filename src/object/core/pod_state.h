// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/core/v1.h"

// What the status of a Pod says. Pure functions.
namespace cox::core_rules {

// Whether it is over for good: Succeeded or Failed.
bool IsTerminal(const core::v1::Pod& pod);
bool IsTerminalPhase(std::string_view phase);

// By its condition alone, whatever its phase.
bool IsReady(const core::v1::Pod& pod);

}  // namespace cox::core_rules

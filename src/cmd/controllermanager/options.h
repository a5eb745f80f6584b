// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/flags.h"
#include "controllers/options.h"

namespace cox::cmd {

// The flags of kube-controller-manager, except those of all components.
std::span<const FlagInfo> ControllerManagerFlags();
// The introduction of --help: usage, examples, the list of controllers.
std::string ControllerManagerIntro();
// Returns BadRequest for invalid values, NotFound for missing files.
Result<controllers::Options> ControllerOptionsFrom(const Flags& flags);

}  // namespace cox::cmd

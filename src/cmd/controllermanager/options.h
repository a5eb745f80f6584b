// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/flags.h"
#include "controllers/options.h"

namespace cox::cmd {

// kube-controller-manager's flags, besides those of all components.
std::span<const FlagInfo> ControllerManagerFlags();
// What --help begins with: usage, examples, the list of controllers.
std::string ControllerManagerIntro();
// BadRequest for values that make no sense, NotFound for files that are not there.
Result<controllers::Options> ControllerOptionsFrom(const Flags& flags);

}  // namespace cox::cmd

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "base/flags.h"

namespace cox::cmd {

// The introduction of `coxswain apiserver --help`.
std::string_view ApiServerIntro();
// All flags of the API server, by section.
std::span<const FlagInfo> ApiServerFlags();

}  // namespace cox::cmd

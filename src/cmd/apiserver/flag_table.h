// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "base/flags.h"

namespace cox::cmd {

// What `coxswain apiserver --help` begins with.
std::string_view ApiServerIntro();
// Every flag of the API server, by section.
std::span<const FlagInfo> ApiServerFlags();

}  // namespace cox::cmd

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

#include "base/flags.h"

namespace cox::cmd {

// Returns the flag's duration, such as 1h30m, rounded up to whole seconds. BadRequest if it is
// invalid.
Result<std::chrono::seconds> SecondsOf(const Flags& flags, std::string_view name);

}  // namespace cox::cmd

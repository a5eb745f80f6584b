// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

#include "base/flags.h"

namespace cox::cmd {

// The flag's duration, such as 1h30m, in whole seconds, rounded up. BadRequest if it is none.
Result<std::chrono::seconds> SecondsOf(const Flags& flags, std::string_view name);

}  // namespace cox::cmd

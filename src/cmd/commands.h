// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

// The subcommands of coxswain. Each gets the arguments behind its name and returns the exit code.
namespace cox::cmd {

int RunApiServer(std::span<char* const> arguments);

}  // namespace cox::cmd

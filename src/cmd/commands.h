// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

// The subcommands of coxswain. Each gets the arguments behind its name and returns the exit code.
namespace cox::cmd {

int RunApiServer(std::span<char* const> arguments);
int RunNew(std::span<char* const> arguments);       // new operator
int RunGenerate(std::span<char* const> arguments);  // generate types

}  // namespace cox::cmd

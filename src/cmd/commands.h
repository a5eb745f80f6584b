// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

// The subcommands of coxswain. Each gets the arguments after its name and returns the exit code.
namespace cox::cmd {

int RunUp(std::span<char* const> arguments);
int RunDown(std::span<char* const> arguments);
int RunApiServer(std::span<char* const> arguments);
int RunControllerManager(std::span<char* const> arguments);
int RunScheduler(std::span<char* const> arguments);
int RunKubelet(std::span<char* const> arguments);
int RunProxy(std::span<char* const> arguments);
int RunDns(std::span<char* const> arguments);
int RunSimulate(std::span<char* const> arguments);
int RunNew(std::span<char* const> arguments);       // new operator
int RunGenerate(std::span<char* const> arguments);  // generate types

}  // namespace cox::cmd

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/result.h"

namespace cox {

// A child process, run to completion for its output.
struct Program {
  // The program, searched in PATH if it has no slash, and its arguments. No shell is involved.
  std::vector<std::string> arguments;
  // Added to this process's environment; replaces variables of the same name.
  std::vector<std::pair<std::string, std::string>> environment;
  // It may interact with the user: it inherits standard input, and stays in the terminal's
  // foreground.
  bool interactive = false;
  size_t max_output = size_t{1024} * 1024;
};

struct ProgramResult {
  int exit_code = 0;   // 128 + n if signal n killed it
  std::string output;  // its standard output
};

// Starts it and waits for its end. It inherits standard error; its output is not logged.
//
// Guarantees: when this returns, the program has ended: it is killed (with its children, unless it
//   is interactive) when `ctx` stops or its output exceeds max_output.
// Errors: NotFound if there is no such program; the context's error; TooLarge; Internal.
Result<ProgramResult> RunProgram(const Context& ctx, const Program& program);

}  // namespace cox

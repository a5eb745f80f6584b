// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/result.h"

namespace cox {

// Another program, run to its end for what it writes.
struct Program {
  // The program, found by PATH if it has no slash, and its arguments. No shell looks at them.
  std::vector<std::string> arguments;
  // Beside the variables of this process, and instead of those of the same name.
  std::vector<std::pair<std::string, std::string>> environment;
  // It may talk to the user: it gets our standard input, and stays in the terminal's foreground.
  bool interactive = false;
  size_t max_output = size_t{1024} * 1024;
};

struct ProgramResult {
  int exit_code = 0;   // 128 + n for one that signal n ended
  std::string output;  // what it wrote to its standard output
};

// Starts it and waits for its end. Its standard error is ours; nothing of what it writes is logged.
//
// Guarantees: when this returns, the program has ended: it is killed (with those it started, unless
//   it is interactive) when `ctx` stops or it writes more than max_output.
// Errors: NotFound if there is no such program; the context's reason; TooLarge; Internal.
Result<ProgramResult> RunProgram(const Context& ctx, const Program& program);

}  // namespace cox

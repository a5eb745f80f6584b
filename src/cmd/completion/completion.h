// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cox::cmd {

// A command, for completion.
struct CompletedCommand {
  std::string_view name;
  std::string_view word;  // a fixed word after the name ("operator"); empty: none
  std::string_view help;
};

// A script that completes commands and flags in the shell "bash", "zsh" or "fish". The script reads
// the flags from the --help of the installed program, so it does not become outdated. Errors:
// BadRequest for another shell.
Result<std::string> CompletionScript(std::string_view shell,
                                     std::span<const CompletedCommand> commands);

}  // namespace cox::cmd

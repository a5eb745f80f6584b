// SPDX-License-Identifier: Apache-2.0
#include "sdk/config/environment.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace cox::sdk {

Environment Environment::Real() {
  return {.variable =
              [](const std::string& name) {
                const char* const value = std::getenv(name.c_str());
                return std::string(value == nullptr ? "" : value);
              },
          .root = "/",
          .program = program_invocation_short_name,
          .terminal = isatty(STDIN_FILENO) == 1};
}

}  // namespace cox::sdk

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace cox::sdk {

// The parts of the process environment that affect the configuration, so that tests can replace
// them.
struct Environment {
  // The value of a variable; empty if it is not set.
  std::function<std::string(const std::string& name)> variable;
  // Root folder of the service account's files.
  std::filesystem::path root = "/";
  // The program's name without its folder.
  std::string program;
  // Standard input is a terminal.
  bool terminal = false;

  // The environment of this process.
  static Environment Real();
};

}  // namespace cox::sdk

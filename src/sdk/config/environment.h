// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace cox::sdk {

// What the surroundings of a process decide about its configuration. Read in one place, so that
// tests say what stands there.
struct Environment {
  // The value of a variable; empty if it is not set.
  std::function<std::string(const std::string& name)> variable;
  // Where the service account's files are looked for.
  std::filesystem::path root = "/";
  // The name of the program, without its folder.
  std::string program;
  // Somebody sits at the standard input.
  bool terminal = false;

  // Of this process.
  static Environment Real();
};

}  // namespace cox::sdk

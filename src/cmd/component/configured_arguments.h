// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cox::cmd {

// Returns whether `arguments` contain --flag, with its value in the same or the next argument.
bool IsGiven(std::span<char* const> arguments, std::string_view flag);

// A command line completed by the file of its --config: the file's settings become flags. Flags of
// the command line have priority.
class ConfiguredArguments {
 public:
  // Flags by name: {"leader-elect", "false"}.
  using NamedFlags = std::vector<std::pair<std::string, std::string>>;

  // `read` converts the text of the file to flags; it is not called without --config. Errors
  // contain --config and the file name.
  static Result<ConfiguredArguments> From(
      std::span<char* const> arguments,
      const std::function<Result<NamedFlags>(std::string_view text)>& read);
  ConfiguredArguments(ConfiguredArguments&&) = default;
  ConfiguredArguments& operator=(ConfiguredArguments&&) = default;

  // All arguments, given and added. Valid during the lifetime of this object and of the given
  // arguments.
  std::span<char* const> all() const { return all_; }
  // The path of the file; empty without --config.
  const std::string& path() const { return path_; }

 private:
  ConfiguredArguments() = default;

  std::string path_;
  std::vector<std::string> added_;
  std::vector<char*> all_;
};

}  // namespace cox::cmd

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

// Whether `arguments` have --flag, with its value in the same argument or not.
bool IsGiven(std::span<char* const> arguments, std::string_view flag);

// A command line, completed by the file that its --config names: what that says as flags, but for
// flags that are given.
class ConfiguredArguments {
 public:
  // Flags by name: {"leader-elect", "false"}.
  using NamedFlags = std::vector<std::pair<std::string, std::string>>;

  // `read` turns the text of the file into the flags that say the same; it is not called if none is
  // named. Errors name --config and the file.
  static Result<ConfiguredArguments> From(
      std::span<char* const> arguments,
      const std::function<Result<NamedFlags>(std::string_view text)>& read);
  ConfiguredArguments(ConfiguredArguments&&) = default;
  ConfiguredArguments& operator=(ConfiguredArguments&&) = default;

  // Those given and those added, as long as this and those given are there.
  std::span<char* const> all() const { return all_; }
  // The file; empty if none is named.
  const std::string& path() const { return path_; }

 private:
  ConfiguredArguments() = default;

  std::string path_;
  std::vector<std::string> added_;
  std::vector<char*> all_;
};

}  // namespace cox::cmd

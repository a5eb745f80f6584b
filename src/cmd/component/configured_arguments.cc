// SPDX-License-Identifier: Apache-2.0
#include "cmd/component/configured_arguments.h"

#include <algorithm>

#include "base/file_watch.h"

namespace cox::cmd {
namespace {

// Returns the value of --config before flag parsing, because the file provides flags.
std::string ConfigPath(std::span<char* const> arguments) {
  constexpr std::string_view kFlag = "--config=";
  std::string path;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--config" && i + 1 < arguments.size()) path = arguments[i + 1];
    if (argument.starts_with(kFlag)) path = argument.substr(kFlag.size());
  }
  return path;
}

}  // namespace

bool IsGiven(std::span<char* const> arguments, std::string_view flag) {
  const std::string dashed = "--" + std::string(flag);
  return std::any_of(arguments.begin(), arguments.end(), [&](std::string_view argument) {
    return argument == dashed || argument.starts_with(dashed + "=");
  });
}

Result<ConfiguredArguments> ConfiguredArguments::From(
    std::span<char* const> arguments,
    const std::function<Result<NamedFlags>(std::string_view text)>& read) {
  ConfiguredArguments configured;
  configured.all_.assign(arguments.begin(), arguments.end());
  configured.path_ = ConfigPath(arguments);
  if (configured.path_.empty()) return configured;
  const Result<std::string> text = ReadBoundedFile(configured.path_);
  if (!text.ok()) return text.status().WithContext("--config");
  const Result<NamedFlags> flags = read(*text);
  if (!flags.ok()) return flags.status().WithContext("--config: " + configured.path_);
  for (const auto& [flag, value] : *flags) {
    if (!IsGiven(arguments, flag)) configured.added_.push_back("--" + flag + "=" + value);
  }
  for (std::string& argument : configured.added_) configured.all_.push_back(argument.data());
  return configured;
}

}  // namespace cox::cmd

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cox {

// One flag of a command.
struct FlagInfo {
  std::string_view section;  // heading in --help
  std::string_view name;     // without dashes
  std::string_view value;  // what stands for the value in --help: "string", "int"; "" for booleans
  std::string_view fallback;
  std::string_view help;
  // Taken so that configurations made for upstream start; it changes nothing here.
  bool accepted_only = false;
};

// The flags of one command line: `--name=value`, `--name value`, and `--name` for booleans. A flag
// may repeat; then its values are joined by commas, as upstream's lists are.
class Flags {
 public:
  // BadRequest, saying which, for a flag that is not in `known` or lacks its value.
  static Result<Flags> Parse(std::span<const FlagInfo> known, std::span<char* const> arguments);

  bool help() const { return help_; }
  bool Has(std::string_view name) const { return values_.contains(name); }
  // What was given, else the fallback.
  std::string Get(std::string_view name) const;
  bool GetBool(std::string_view name) const;
  // BadRequest if it is no number from `min` to `max`.
  Result<int64_t> GetInt(std::string_view name, int64_t min, int64_t max) const;
  std::vector<std::string> GetList(std::string_view name) const;
  // Those that were given, by name.
  const std::map<std::string, std::string, std::less<>>& given() const { return values_; }

 private:
  std::span<const FlagInfo> known_;
  std::map<std::string, std::string, std::less<>> values_;
  bool help_ = false;
};

// Whether --help or -h is among the arguments.
bool HasHelpFlag(std::span<char* const> arguments);

// The text of --help.
std::string FlagsHelp(std::string_view intro, std::span<const FlagInfo> flags);

}  // namespace cox

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
  std::string_view value;    // placeholder of the value in --help: "string", "int"; "" for booleans
  std::string_view fallback;
  std::string_view help;
  // Accepted for compatibility with upstream's configurations, without effect.
  bool accepted_only = false;
};

// The flags of one command line: `--name=value`, `--name value`, and `--name` for booleans. The
// values of a repeated flag are joined by commas, like upstream's lists.
class Flags {
 public:
  // BadRequest, with the name, for a flag that is not in `known` or lacks its value.
  static Result<Flags> Parse(std::span<const FlagInfo> known, std::span<char* const> arguments);

  bool help() const { return help_; }
  bool Has(std::string_view name) const { return values_.contains(name); }
  // The given value, or the default.
  std::string Get(std::string_view name) const;
  bool GetBool(std::string_view name) const;
  // BadRequest unless it is a number from `min` to `max`.
  Result<int64_t> GetInt(std::string_view name, int64_t min, int64_t max) const;
  std::vector<std::string> GetList(std::string_view name) const;
  // The given flags, by name.
  const std::map<std::string, std::string, std::less<>>& given() const { return values_; }

 private:
  std::span<const FlagInfo> known_;
  std::map<std::string, std::string, std::less<>> values_;
  bool help_ = false;
};

// Whether the arguments contain --help or -h.
bool HasHelpFlag(std::span<char* const> arguments);

// The text of --help.
std::string FlagsHelp(std::string_view intro, std::span<const FlagInfo> flags);

}  // namespace cox

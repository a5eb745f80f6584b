// SPDX-License-Identifier: Apache-2.0
#include "base/flags.h"

#include <charconv>

#include "base/strings.h"
#include "base/suggestion.h"

namespace cox {
namespace {

const FlagInfo* Find(std::span<const FlagInfo> known, std::string_view name) {
  for (const FlagInfo& flag : known) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

}  // namespace

Result<Flags> Flags::Parse(std::span<const FlagInfo> known, std::span<char* const> arguments) {
  Flags flags;
  flags.known_ = known;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      flags.help_ = true;
      continue;
    }
    // The only flag with a short form: -v=2, -v 2.
    const bool verbosity = argument == "-v" || argument.starts_with("-v=");
    if (!verbosity && !argument.starts_with("--")) {
      return Status::BadRequest("unexpected argument " + Quote(argument) +
                                ": flags begin with two dashes; see --help");
    }
    const std::string_view text = argument.substr(verbosity ? 1 : 2);
    const size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const FlagInfo* info = Find(known, name);
    if (info == nullptr) {
      std::vector<std::string_view> names;
      for (const FlagInfo& flag : known) names.push_back(flag.name);
      const std::string closest(ClosestName(name, names));
      return Status::BadRequest("unknown flag: --" + std::string(name) +
                                (closest.empty() ? "" : " (did you mean --" + closest + "?)") +
                                "; see --help");
    }
    std::string value;
    if (equals != text.npos) {
      value = text.substr(equals + 1);
    } else if (info->value.empty()) {
      value = "true";
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      return Status::BadRequest("flag needs a value: --" + std::string(name));
    }
    auto [at, added] = flags.values_.emplace(name, value);
    if (!added) at->second += "," + value;
  }
  return flags;
}

std::string Flags::Get(std::string_view name) const {
  auto at = values_.find(name);
  if (at != values_.end()) return at->second;
  const FlagInfo* info = Find(known_, name);
  return info == nullptr ? std::string() : std::string(info->fallback);
}

bool Flags::GetBool(std::string_view name) const {
  const std::string value = Get(name);
  return value == "true" || value == "1" || value == "t" || value == "T" || value == "TRUE" ||
         value == "True";
}

Result<int64_t> Flags::GetInt(std::string_view name, int64_t min, int64_t max) const {
  const std::string text = Get(name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) {
    return Status::BadRequest("--" + std::string(name) + "=" + text + ": want a number from " +
                              std::to_string(min) + " to " + std::to_string(max));
  }
  return value;
}

std::vector<std::string> Flags::GetList(std::string_view name) const {
  std::vector<std::string> list;
  const std::string text = Get(name);
  for (std::string_view item : Split(text, ',')) {
    if (!item.empty()) list.emplace_back(item);
  }
  return list;
}

bool HasHelpFlag(std::span<char* const> arguments) {
  for (const std::string_view argument : arguments) {
    if (argument == "--help" || argument == "-h") return true;
  }
  return false;
}

std::string FlagsHelp(std::string_view intro, std::span<const FlagInfo> flags) {
  constexpr size_t kColumn = 48;
  std::string text(intro);
  std::string_view section;
  for (const FlagInfo& flag : flags) {
    if (flag.section != section) {
      section = flag.section;
      text.append("\n").append(section).append(" flags:\n\n");
    }
    std::string line = (flag.name == "v" ? "  -v, --" : "      --") + std::string(flag.name);
    if (!flag.value.empty()) line += " " + std::string(flag.value);
    line.append(line.size() < kColumn ? kColumn - line.size() : 1, ' ');
    line += flag.help;
    if (!flag.fallback.empty() && flag.fallback != "false") {
      line += " (default " + std::string(flag.fallback) + ")";
    }
    if (flag.accepted_only) line += " (accepted, no effect)";
    text += line + "\n";
  }
  return text;
}

}  // namespace cox

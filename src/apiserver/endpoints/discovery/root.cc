// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "apiserver/endpoints/discovery/discovery.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {

std::string VersionDocument(const VersionInfo& info) {
  const std::pair<std::string_view, const std::string*> members[] = {
      {"major", &info.major},
      {"minor", &info.minor},
      {"emulationMajor", &info.emulation_major},
      {"emulationMinor", &info.emulation_minor},
      {"minCompatibilityMajor", &info.min_compatibility_major},
      {"minCompatibilityMinor", &info.min_compatibility_minor},
      {"gitVersion", &info.git_version},
      {"gitCommit", &info.git_commit},
      {"gitTreeState", &info.git_tree_state},
      {"buildDate", &info.build_date},
      {"goVersion", &info.go_version},
      {"compiler", &info.compiler},
      {"platform", &info.platform},
  };
  std::string out = "{";
  for (const auto& [name, value] : members) {
    out += out.size() > 1 ? ",\n  " : "\n  ";
    json::WriteString(name, &out);
    out += ": ";
    json::WriteString(*value, &out);
  }
  out += "\n}";
  return out;
}

std::string PathsDocument(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  std::string out = "{\n  \"paths\": [";
  for (size_t i = 0; i < paths.size(); ++i) {
    out += i == 0 ? "\n    " : ",\n    ";
    json::WriteString(paths[i], &out);
  }
  out += "\n  ]\n}";
  return out;
}

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <set>

#include "base/file_watch.h"
#include "base/flags.h"
#include "cmd/commands.h"
#include "cmd/generate/files.h"
#include "object/yaml/yaml.h"
#include "sdk/generate/cpp_types.h"

namespace cox::cmd {
namespace {

constexpr char kIntro[] =
    R"(Writes C++ structs for the kinds of CustomResourceDefinitions, to use with the Coxswain SDK.

Usage:
  coxswain generate types --from crds.yaml [flags]

For each definition and version: <singular>_<version>.h and .cc. In CMake: coxswain_types().
)";

constexpr FlagInfo kFlags[] = {
    {"What", "from", "file", "", "A file of CustomResourceDefinitions, YAML or JSON."},
    {"What", "namespace", "string", "api", "The C++ namespace of the structs."},
    {"Where", "out", "folder", ".", "Where to write."},
};

Status Run(const Flags& flags) {
  if (flags.Get("from").empty()) return Status::BadRequest("--from is needed; see --help");
  COX_ASSIGN_OR_RETURN(const std::string text, ReadBoundedFile(flags.Get("from")));
  COX_ASSIGN_OR_RETURN(const std::vector<Value> documents, yaml::ParseAll(text));
  std::vector<std::pair<std::string, std::string>> files;
  std::set<std::string> stems;
  for (const Value& document : documents) {
    Result<std::vector<sdk::CppTypes>> all =
        sdk::CppTypesFromCrd(document, {.ns = flags.Get("namespace")});
    if (!all.ok()) return all.status().WithContext(flags.Get("from"));
    for (sdk::CppTypes& types : *all) {
      if (!stems.insert(types.stem).second) {
        return Status::BadRequest(flags.Get("from") + ": two definitions of " + types.stem);
      }
      files.emplace_back(types.stem + ".h", std::move(types.header));
      files.emplace_back(types.stem + ".cc", std::move(types.source));
    }
  }
  COX_RETURN_IF_ERROR(WriteFiles(flags.Get("out"), files, /*replace=*/true));
  for (const auto& [path, unused] : files) {
    std::printf("%s/%s\n", flags.Get("out").c_str(), path.c_str());
  }
  return {};
}

}  // namespace

int RunGenerate(std::span<char* const> arguments) {
  const bool wanted = !arguments.empty() && std::string_view(arguments[0]) == "types";
  Result<Flags> flags = Flags::Parse(kFlags, arguments.subspan(arguments.empty() ? 0 : 1));
  if (!wanted || (flags.ok() && flags->help())) {
    std::fputs(FlagsHelp(kIntro, kFlags).c_str(), wanted ? stdout : stderr);
    return wanted ? 0 : 2;
  }
  const Status status = flags.ok() ? Run(*flags) : flags.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "Error: %s\n", status.message().c_str());
  return 1;
}

}  // namespace cox::cmd

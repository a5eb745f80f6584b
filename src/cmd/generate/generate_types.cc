// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <set>

#include "base/file_watch.h"
#include "base/flags.h"
#include "cmd/commands.h"
#include "cmd/generate/files.h"
#include "object/codec/yaml/yaml.h"
#include "sdk/generate/cpp_types.h"

namespace cox::cmd {
namespace {

constexpr char kIntro[] =
    R"(Generates C++ structs from CustomResourceDefinitions, for the Coxswain SDK.

Usage:
  coxswain generate types --from crds.yaml [flags]

For each definition and version: <singular>_<version>.h and .cc. In CMake: coxswain_types().
)";

constexpr FlagInfo kFlags[] = {
    {"Input", "from", "file", "", "File with CustomResourceDefinitions, YAML or JSON"},
    {"Input", "namespace", "string", "api", "C++ namespace of the structs"},
    {"Output", "out", "folder", ".", "Directory for the generated files"},
};

Status Run(const Flags& flags) {
  if (flags.Get("from").empty()) return Status::BadRequest("--from is required; see --help");
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
  if (HasHelpFlag(arguments)) {
    std::fputs(FlagsHelp(kIntro, kFlags).c_str(), stdout);
    return 0;
  }
  if (arguments.empty() || std::string_view(arguments[0]) != "types") {
    std::fputs(FlagsHelp(kIntro, kFlags).c_str(), stderr);
    return 2;
  }
  const Result<Flags> flags = Flags::Parse(kFlags, arguments.subspan(1));
  const Status status = flags.ok() ? Run(*flags) : flags.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "Error: %s\n", status.message().c_str());
  return flags.ok() ? 1 : 2;
}

}  // namespace cox::cmd

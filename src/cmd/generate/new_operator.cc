// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "base/flags.h"
#include "cmd/commands.h"
#include "cmd/generate/files.h"
#include "sdk/generate/scaffold.h"

namespace cox::cmd {
namespace {

constexpr char kIntro[] =
    R"(Creates an operator project: a C++ program that uses the Coxswain SDK, with a test.

Usage:
  coxswain new operator NAME [flags]

  coxswain new operator config-counter
  coxswain new operator backup-operator --group example.com --kind Backup

The directory NAME gets CMakeLists.txt, src/, tests/ and deploy/. Then: cmake -B build && cmake --build build.
)";

constexpr FlagInfo kFlags[] = {
    {"Resource", "kind", "string", "",
     "Custom kind that the operator manages, for example Backup (default: it watches ConfigMaps)"},
    {"Resource", "group", "string", "", "API group of the kind, a domain that you own"},
    {"Resource", "version", "string", "v1", "API version of the kind"},
    {"Output", "dir", "string", "",
     "Directory for the project (default: the name of the operator)"},
};

Status Run(std::string name, const Flags& flags) {
  const std::string folder = flags.Get("dir").empty() ? name : flags.Get("dir");
  COX_ASSIGN_OR_RETURN(const auto files, sdk::ScaffoldOperator({.name = std::move(name),
                                                                .group = flags.Get("group"),
                                                                .kind = flags.Get("kind"),
                                                                .version = flags.Get("version")}));
  COX_RETURN_IF_ERROR(WriteFiles(folder, files, /*replace=*/false));
  for (const auto& [path, text] : files) std::printf("%s/%s\n", folder.c_str(), path.c_str());
  std::printf("\nNext: cd %s && cmake -B build && cmake --build build && ctest --test-dir build\n",
              folder.c_str());
  return {};
}

int Fail(const Status& status, int exit_code) {
  std::fprintf(stderr, "Error: %s\n", status.message().c_str());
  return exit_code;
}

}  // namespace

int RunNew(std::span<char* const> arguments) {
  if (HasHelpFlag(arguments)) {
    std::fputs(FlagsHelp(kIntro, kFlags).c_str(), stdout);
    return 0;
  }
  if (arguments.size() < 2 || std::string_view(arguments[0]) != "operator" ||
      std::string_view(arguments[1]).starts_with("-")) {
    std::fputs(FlagsHelp(kIntro, kFlags).c_str(), stderr);
    return 2;
  }
  const Result<Flags> flags = Flags::Parse(kFlags, arguments.subspan(2));
  if (!flags.ok()) return Fail(flags.status(), 2);
  const Status status = Run(arguments[1], *flags);
  return status.ok() ? 0 : Fail(status, 1);
}

}  // namespace cox::cmd

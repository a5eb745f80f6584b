// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "base/flags.h"
#include "cmd/commands.h"
#include "cmd/generate/files.h"
#include "sdk/generate/scaffold.h"

namespace cox::cmd {
namespace {

constexpr char kIntro[] =
    R"(Writes a new operator: a C++ program on the Coxswain SDK that builds, with a test.

Usage:
  coxswain new operator NAME [flags]

  coxswain new operator config-counter
  coxswain new operator backup-operator --group example.com --kind Backup

The folder NAME gets CMakeLists.txt, src/, tests/ and deploy/. Then: cmake -B build && cmake --build build.
)";

constexpr FlagInfo kFlags[] = {
    {"What it looks after", "kind", "string", "",
     "A kind of your own, as Backup. Without it the operator watches ConfigMaps."},
    {"What it looks after", "group", "string", "", "The kind's API group, a domain of yours."},
    {"What it looks after", "version", "string", "v1", "The kind's version."},
    {"Where", "dir", "string", "", "The folder to write. Default: the name of the operator."},
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

}  // namespace

int RunNew(std::span<char* const> arguments) {
  const bool wanted = arguments.size() >= 2 && std::string_view(arguments[0]) == "operator" &&
                      !std::string_view(arguments[1]).starts_with("-");
  Result<Flags> flags =
      Flags::Parse(kFlags, arguments.subspan(wanted ? 2 : std::min<size_t>(arguments.size(), 1)));
  if (!wanted || (flags.ok() && flags->help())) {
    std::fputs(FlagsHelp(kIntro, kFlags).c_str(), wanted ? stdout : stderr);
    return wanted ? 0 : 2;
  }
  const Status status = flags.ok() ? Run(arguments[1], *flags) : flags.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "Error: %s\n", status.message().c_str());
  return 1;
}

}  // namespace cox::cmd

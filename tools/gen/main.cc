// SPDX-License-Identifier: Apache-2.0
// Generates the structs and tables of the API types from api/*.api during the build.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "emit.h"

namespace {

namespace fs = std::filesystem;
using namespace cox::gen;  // NOLINT: this file is the program

constexpr const char* kHelp =
    "usage: gen [--list] API_DIR OUT_DIR [DESCRIPTIONS]\n"
    "\n"
    "Reads API_DIR/<package>/<version>.api and writes OUT_DIR/api/<package>/<version>.{h,cc},\n"
    "OUT_DIR/api/kinds.cc, OUT_DIR/api/packages.cc and OUT_DIR/api/descriptions.cc. A file whose "
    "text\n"
    "is unchanged is not touched.\n"
    "  --list        only print the packages, one per line\n"
    "  DESCRIPTIONS  a file of 'key<TAB>text' lines, as tools/import-api --descriptions writes "
    "it\n";

bool WriteIfChanged(const fs::path& path, const std::string& text) {
  std::ifstream in(path);
  std::stringstream old;
  old << in.rdbuf();
  if (in && old.str() == text) return true;
  fs::create_directories(path.parent_path());
  std::ofstream out(path);
  out << text;
  return static_cast<bool>(out.flush());
}

Descriptions ReadDescriptions(const fs::path& path) {
  Descriptions descriptions;
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    const size_t tab = line.find('\t');
    if (tab != std::string::npos) descriptions[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return descriptions;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  bool list = !args.empty() && args[0] == "--list";
  if (list) args.erase(args.begin());
  if (args.size() < (list ? 1u : 2u) || args[0] == "--help") {
    std::fputs(kHelp, args.empty() || args[0] != "--help" ? stderr : stdout);
    return args.empty() || args[0] != "--help" ? 2 : 0;
  }
  Model model = ReadModel(args[0]);
  if (list) {
    for (const auto& [path, package] : model.packages) std::printf("%s\n", path.c_str());
    return 0;
  }
  Descriptions descriptions;
  if (args.size() > 2) descriptions = ReadDescriptions(args[2]);
  fs::path out = fs::path(args[1]) / "api";
  bool ok = true;
  for (const auto& [path, package] : model.packages) {
    ok = WriteIfChanged(out / (path + ".h"), EmitHeader(model, package, descriptions)) && ok;
    ok = WriteIfChanged(out / (path + ".cc"), EmitTables(model, package)) && ok;
  }
  ok = WriteIfChanged(out / "kinds.cc", EmitKinds(model)) && ok;
  ok = WriteIfChanged(out / "packages.cc", EmitPackages(model)) && ok;
  ok = WriteIfChanged(out / "descriptions.cc", EmitDescriptions(descriptions)) && ok;
  if (!ok) std::perror("gen: writing failed");
  return ok ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <span>
#include <string_view>

#include "cmd/commands.h"
#include "net/tls.h"

namespace {

constexpr char kUsage[] =
    R"(coxswain: Kubernetes in one small program.

Usage:
  coxswain apiserver [flags]             the API server, on etcd
  coxswain new operator NAME [flags]     a new operator, in C++
  coxswain generate types [flags]        C++ structs for CustomResourceDefinitions

Called as kube-apiserver it is `coxswain apiserver`. `coxswain <command> --help` lists its flags.
)";

}  // namespace

int main(int argc, char** argv) {
  // Before anything else makes OpenSSL allocate.
  cox::net::PrepareTls();
  const std::span<char* const> arguments(argv, static_cast<size_t>(argc));
  std::string_view program = argc > 0 ? argv[0] : "";
  program = program.substr(program.rfind('/') + 1);
  if (program == "kube-apiserver") return cox::cmd::RunApiServer(arguments.subspan(1));
  if (argc < 2) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const std::string_view command = argv[1];
  if (command == "apiserver") return cox::cmd::RunApiServer(arguments.subspan(2));
  if (command == "new") return cox::cmd::RunNew(arguments.subspan(2));
  if (command == "generate") return cox::cmd::RunGenerate(arguments.subspan(2));
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  std::fprintf(stderr, "coxswain: unknown command \"%s\"\n\n%s", argv[1], kUsage);
  return 2;
}

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "cmd/commands.h"
#include "net/tls.h"

namespace {

struct Command {
  std::string_view name;
  std::string_view upstream;  // a program of that name is this command; empty: none
  std::string_view usage;
  std::string_view what;
  int (*run)(std::span<char* const> arguments);
};

constexpr Command kCommands[] = {
    {"up", "", "up [flags]", "a whole cluster on this machine", cox::cmd::RunUp},
    {"down", "", "down [flags]", "ends it and takes away what it made", cox::cmd::RunDown},
    {"apiserver", "kube-apiserver", "apiserver [flags]", "the API server, on etcd",
     cox::cmd::RunApiServer},
    {"controller-manager", "kube-controller-manager", "controller-manager [flags]",
     "the controllers", cox::cmd::RunControllerManager},
    {"scheduler", "kube-scheduler", "scheduler [flags]", "gives Pods to nodes",
     cox::cmd::RunScheduler},
    {"kubelet", "kubelet", "kubelet [flags]", "the agent of a node, on containerd",
     cox::cmd::RunKubelet},
    {"proxy", "kube-proxy", "proxy [flags]", "packets to Services go to their endpoints",
     cox::cmd::RunProxy},
    {"dns", "", "dns [flags]", "the names of Services and Pods", cox::cmd::RunDns},
    {"simulate", "", "simulate --nodes N [flags]", "nodes without containers, for tests and scale",
     cox::cmd::RunSimulate},
    {"new", "", "new operator NAME [flags]", "a new operator, in C++", cox::cmd::RunNew},
    {"generate", "", "generate types [flags]", "C++ structs for CustomResourceDefinitions",
     cox::cmd::RunGenerate},
};

std::string Usage() {
  std::string text = "coxswain: Kubernetes in one small program.\n\nUsage:\n";
  for (const Command& command : kCommands) {
    std::string line = "  coxswain " + std::string(command.usage);
    line.resize(std::max<size_t>(line.size() + 2, 41), ' ');
    text += line + std::string(command.what) + "\n";
  }
  text += "\nCalled as";
  for (const Command& command : kCommands) {
    if (!command.upstream.empty()) text += " " + std::string(command.upstream) + ",";
  }
  text.back() = ' ';
  return text +
         "it is that command, with upstream's flags.\n"
         "`coxswain <command> --help` lists the flags.\n";
}

}  // namespace

int main(int argc, char** argv) {
  // Before anything else makes OpenSSL allocate.
  cox::net::PrepareTls();
  const std::span<char* const> arguments(argv, static_cast<size_t>(argc));
  std::string_view program = argc > 0 ? argv[0] : "";
  program = program.substr(program.rfind('/') + 1);
  for (const Command& command : kCommands) {
    if (program == command.upstream) return command.run(arguments.subspan(1));
  }
  if (argc < 2) {
    std::fputs(Usage().c_str(), stderr);
    return 2;
  }
  const std::string_view name = argv[1];
  for (const Command& command : kCommands) {
    if (name == command.name) return command.run(arguments.subspan(2));
  }
  if (name == "--help" || name == "-h" || name == "help") {
    std::fputs(Usage().c_str(), stdout);
    return 0;
  }
  std::fprintf(stderr, "coxswain: unknown command \"%s\"\n\n%s", argv[1], Usage().c_str());
  return 2;
}

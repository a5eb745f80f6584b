// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/build_info.h"
#include "base/flags.h"
#include "base/suggestion.h"
#include "cmd/commands.h"
#include "cmd/completion/completion.h"
#include "cmd/version.h"  // generated
#include "net/tls.h"

namespace {

constexpr int kUsageError = 2;

struct Command {
  std::string_view name;
  std::string_view upstream;  // the program name that selects this command; empty: none
  std::string_view word;      // a fixed word after the name; empty: none
  std::string_view argument;  // after the name and the word, in the list of commands; empty: none
  std::string_view help;
  int (*run)(std::span<char* const> arguments);
};

int PrintCompletion(std::span<char* const> arguments);
int PrintAllVersions(std::span<char* const> arguments);
int PrintHelp(std::span<char* const> names);

constexpr Command kCommands[] = {
    {"up", "", "", "", "Run a complete cluster on this machine", cox::cmd::RunUp},
    {"down", "", "", "", "Stop the cluster of `up` and remove what it created", cox::cmd::RunDown},
    {"apiserver", "kube-apiserver", "", "", "Run the API server (kube-apiserver)",
     cox::cmd::RunApiServer},
    {"controller-manager", "kube-controller-manager", "", "",
     "Run the controllers (kube-controller-manager)", cox::cmd::RunControllerManager},
    {"scheduler", "kube-scheduler", "", "", "Run the scheduler (kube-scheduler)",
     cox::cmd::RunScheduler},
    {"kubelet", "kubelet", "", "", "Run the node agent (kubelet)", cox::cmd::RunKubelet},
    {"proxy", "kube-proxy", "", "", "Run the service proxy (kube-proxy)", cox::cmd::RunProxy},
    {"dns", "", "", "", "Run the cluster DNS server", cox::cmd::RunDns},
    {"simulate", "", "", "", "Run nodes without containers, for tests of scale",
     cox::cmd::RunSimulate},
    {"new", "", "operator", "NAME", "Create an operator project in C++", cox::cmd::RunNew},
    {"generate", "", "types", "", "Generate C++ structs from CustomResourceDefinitions",
     cox::cmd::RunGenerate},
    {"completion", "", "", "SHELL", "Print a completion script for bash, zsh or fish",
     PrintCompletion},
    {"version", "", "", "", "Print the version", PrintAllVersions},
    {"help", "", "", "[command]", "Print this text, or the help of a command", PrintHelp},
};

std::string Usage() {
  std::string text =
      "coxswain: Kubernetes in one small program.\n\n"
      "Usage:\n  coxswain <command> [flags]\n\n"
      "Commands:\n";
  for (const Command& command : kCommands) {
    std::string line(command.name);
    for (const std::string_view more : {command.word, command.argument}) {
      if (!more.empty()) line.append(" ").append(more);
    }
    line.resize(std::max<size_t>(line.size() + 2, 24), ' ');
    text += "  " + line + std::string(command.help) + "\n";
  }
  text += "\nIf the program is called";
  std::string_view separator = " ";
  for (const Command& command : kCommands) {
    if (command.upstream.empty()) continue;
    text += std::string(separator) + std::string(command.upstream);
    separator = command.name == "kubelet" ? " or " : ", ";
  }
  return text +
         ", it runs that command,\nwith the flags of upstream.\n\n"
         "`coxswain <command> --help` lists the flags of a command.\n";
}

const Command* FindCommand(std::string_view name) {
  const Command* found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                      [&](const Command& command) { return command.name == name; });
  return found == std::end(kCommands) ? nullptr : found;
}

// Prints "Kubernetes v1.36.4+...", the format that Kubernetes installers expect; `raw` adds all
// build information.
int PrintVersion(bool raw) {
  const cox::BuildInfo& build = cox::GetBuildInfo();
  std::printf("Kubernetes %s\n", build.git_version.c_str());
  if (raw) {
    std::printf("commit: %s (%s)\ncommit date: %s\n", build.git_commit.c_str(),
                build.git_tree_state.c_str(), build.build_date.c_str());
  }
  return 0;
}

int PrintAllVersions(std::span<char* const> /*arguments*/) { return PrintVersion(true); }

// Upstream's programs have a flag --version with the values true, false and raw.
int Run(const Command& command, std::span<char* const> arguments) {
  if (command.word.empty() && command.argument.empty()) {
    for (const std::string_view argument : arguments) {
      if (argument == "--version" || argument == "--version=true") return PrintVersion(false);
      if (argument == "--version=raw") return PrintVersion(true);
    }
  }
  return command.run(arguments);
}

constexpr char kCompletionUsage[] =
    "Prints a script that completes commands and flags in a shell.\n\n"
    "Usage:\n"
    "  coxswain completion bash|zsh|fish\n\n"
    "Examples:\n"
    "  source <(coxswain completion bash)    # only in this shell; zsh in the same way\n"
    "  coxswain completion bash > /etc/bash_completion.d/coxswain\n"
    "  coxswain completion zsh > \"${fpath[1]}/_coxswain\"\n"
    "  coxswain completion fish > ~/.config/fish/completions/coxswain.fish\n";

int PrintCompletion(std::span<char* const> arguments) {
  if (cox::HasHelpFlag(arguments)) {
    std::fputs(kCompletionUsage, stdout);
    return 0;
  }
  if (arguments.size() != 1) {
    std::fprintf(stderr, "Error: one shell is required\n\n%s", kCompletionUsage);
    return kUsageError;
  }
  std::vector<cox::cmd::CompletedCommand> commands;
  for (const Command& command : kCommands) {
    commands.push_back({command.name, command.word, command.help});
  }
  const cox::Result<std::string> script = cox::cmd::CompletionScript(arguments.front(), commands);
  if (!script.ok()) {
    std::fprintf(stderr, "Error: %s\n", script.status().message().c_str());
    return kUsageError;
  }
  std::fputs(script->c_str(), stdout);
  return 0;
}

int PrintHelp(std::span<char* const> names) {
  const Command* command = names.empty() ? nullptr : FindCommand(names.front());
  if (command == nullptr || command->run == PrintHelp || command->run == PrintAllVersions) {
    std::fputs(Usage().c_str(), stdout);
    return 0;
  }
  std::vector<char*> arguments(names.begin() + 1, names.end());
  std::string help = "--help";
  arguments.push_back(help.data());
  return command->run(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  // Must precede the first allocation of OpenSSL.
  cox::net::PrepareTls();
  cox::BuildInfo build;
  build.git_commit = kGitCommit;
  build.git_tree_state = kGitTreeState;
  build.build_date = kCommitDate;
  cox::SetBuildInfo(std::move(build));

  const std::span<char* const> arguments(argv, static_cast<size_t>(argc));
  std::string_view program = argc > 0 ? argv[0] : "";
  program = program.substr(program.rfind('/') + 1);
  for (const Command& command : kCommands) {
    if (!command.upstream.empty() && program == command.upstream) {
      return Run(command, arguments.subspan(1));
    }
  }
  if (argc < 2) {
    std::fputs(Usage().c_str(), stderr);
    return kUsageError;
  }
  const std::string_view name = argv[1];
  if (const Command* command = FindCommand(name)) return Run(*command, arguments.subspan(2));
  if (name == "--help" || name == "-h") return PrintHelp(arguments.subspan(2));
  if (name == "--version") return PrintVersion(true);
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string closest(cox::ClosestName(name, names));
  const std::string hint = closest.empty() ? "" : "; did you mean \"" + closest + "\"?";
  std::fprintf(stderr, "Error: unknown command \"%s\"%s\n\n%s", argv[1], hint.c_str(),
               Usage().c_str());
  return kUsageError;
}

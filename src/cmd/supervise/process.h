// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/result.h"

// Other processes, which may outlive this one.
namespace cox::cmd {

// A process, distinguished from later processes with the same pid by its start time.
struct Process {
  pid_t pid = -1;
  uint64_t started = 0;  // in clock ticks since boot

  bool operator==(const Process&) const = default;
};

// Returns nullopt if there is no such process, or only a zombie.
std::optional<Process> ProcessOf(pid_t pid);
bool Runs(const Process& process);

// Finds the process named `program` that has exactly `argument` among its arguments, belongs to the
// user of this process and is in the same mount namespace. Other users and containers may run
// processes with the same command line, so these are excluded.
std::optional<Process> FindProcess(std::string_view program, std::string_view argument);
std::vector<Process> FindProcesses(std::string_view program, std::string_view argument);

// Returns whether the process' working directory was deleted.
bool HasLostItsFolder(const Process& process);

struct ProgramStart {
  std::vector<std::string> arguments;  // the program, searched in PATH, and its arguments
  // NAME=value; takes precedence over the inherited environment.
  std::vector<std::string> environment;
  std::filesystem::path log;  // stdout and stderr are appended to this file
};
// Starts the program in its own session: it gets no signals of the terminal and keeps running after
// this process exits. Returns NotFound if the program is not installed.
Result<Process> StartProgram(const ProgramStart& start);

// Returns the full path; empty if the program is not in PATH, /usr/sbin or /sbin.
std::string FindProgram(std::string_view name);

// Blocks until the process has ended, and reaps it if it is a child. Returns an error if `ctx`
// stops first.
Status AwaitEnd(const Context& ctx, const Process& process);

// Sends SIGTERM, and SIGKILL after `grace`. Returns OK when the process has ended, Forbidden if it
// belongs to another user.
Status EndProcess(const Context& ctx, const Process& process, std::chrono::milliseconds grace);

}  // namespace cox::cmd

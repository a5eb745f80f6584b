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

// Other programs, which may outlive this one.
namespace cox::cmd {

// A process, told from later ones of the same number by when it was started.
struct Process {
  pid_t pid = -1;
  uint64_t started = 0;  // in ticks since the machine has

  bool operator==(const Process&) const = default;
};

// None: there is no such process, or only what its parent has not taken note of.
std::optional<Process> ProcessOf(pid_t pid);
bool Runs(const Process& process);

// The process that has `argument` among its own, word for word, and sees the same files as we do: a
// container that is made like this machine has other processes of the same words. Any program
// counts whose name is `program`.
std::optional<Process> FindProcess(std::string_view program, std::string_view argument);
std::vector<Process> FindProcesses(std::string_view program, std::string_view argument);

// Whether the folder that it works in was removed.
bool HasLostItsFolder(const Process& process);

struct ProgramStart {
  std::vector<std::string> arguments;    // the program, found by PATH, and what it is told
  std::vector<std::string> environment;  // NAME=value, before what we have ourselves
  std::filesystem::path log;             // its output goes to the end of this file
};
// Starts it apart from us: signals of our terminal do not reach it, and it lives on when we end.
// NotFound if there is no such program.
Result<Process> StartProgram(const ProgramStart& start);

// The full path; empty if PATH, and where Debian keeps programs of administrators, have none.
std::string FindProgram(std::string_view name);

// Blocks until it has ended, and takes note of that if it is our child. Not OK when `ctx` stops
// first.
Status AwaitEnd(const Context& ctx, const Process& process);

// Asks it to end, and kills it after `grace`. OK when it is gone; Forbidden if it is not ours to
// end.
Status EndProcess(const Context& ctx, const Process& process, std::chrono::milliseconds grace);

}  // namespace cox::cmd

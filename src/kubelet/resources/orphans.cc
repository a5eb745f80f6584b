// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resources/orphans.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/fd.h"

namespace cox::kubelet {

namespace {

std::string InProc(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

// 0: no parent is visible in this PID namespace.
pid_t ParentOf(pid_t pid) {
  constexpr std::string_view kParent = "PPid:";
  std::ifstream status(InProc(pid, "status"));
  // Line by line, because the process name in one of the lines may contain any text.
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kParent)) return std::atoi(line.c_str() + kParent.size());
  }
  return 0;
}

bool IsShim(pid_t pid) {
  std::ifstream words(InProc(pid, "cmdline"));
  std::string program;
  std::getline(words, program, '\0');
  return program.substr(program.rfind('/') + 1).starts_with("containerd-shim");
}

// A pidfd of the shim that is the parent of `pid`; invalid if there is none. Unlike a PID, it
// cannot refer to a later process.
Fd ShimOf(pid_t pid) {
  const pid_t parent = ParentOf(pid);
  if (parent <= 1) return {};
  Fd shim(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
  // It is still the parent, so it is alive and the pidfd refers to it.
  if (!shim.valid() || !IsShim(parent) || ParentOf(pid) != parent) return {};
  return shim;
}

}  // namespace

void EndOrphans(const std::string& group) {
  std::ifstream processes(group + "/cgroup.procs");
  for (pid_t pid = 0; processes >> pid;) {
    if (pid <= 0) continue;  // in another PID namespace
    const Fd shim = ShimOf(pid);
    (void)::kill(pid, SIGKILL);
    if (shim.valid()) (void)::syscall(SYS_pidfd_send_signal, shim.get(), SIGTERM, nullptr, 0);
  }
}

}  // namespace cox::kubelet

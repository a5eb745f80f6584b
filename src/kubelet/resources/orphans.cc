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

// 0: none that is seen from here.
pid_t ParentOf(pid_t pid) {
  constexpr std::string_view kParent = "PPid:";
  std::ifstream status(InProc(pid, "status"));
  // By lines: one of them has the name of the process, which may be anything.
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

// The shim whose child this process is; invalid if it has none. Kept open, it is never another
// process that got its number later.
Fd ShimOf(pid_t pid) {
  const pid_t parent = ParentOf(pid);
  if (parent <= 1) return {};
  Fd shim(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
  // Still the parent: so it lives, and the number was its own when it was opened.
  if (!shim.valid() || !IsShim(parent) || ParentOf(pid) != parent) return {};
  return shim;
}

}  // namespace

void EndOrphans(const std::string& group) {
  std::ifstream processes(group + "/cgroup.procs");
  for (pid_t pid = 0; processes >> pid;) {
    if (pid <= 0) continue;  // of another namespace
    const Fd shim = ShimOf(pid);
    (void)::kill(pid, SIGKILL);
    if (shim.valid()) (void)::syscall(SYS_pidfd_send_signal, shim.get(), SIGTERM, nullptr, 0);
  }
}

}  // namespace cox::kubelet

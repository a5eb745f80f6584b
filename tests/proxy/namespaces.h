// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"

// Network namespaces for tests: a node and its Pods on one machine. Requires root.
namespace cox::proxy {

// Runs a program in the network namespace of the calling thread and waits for it.
inline Status RunProgram(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    return Status::NotFound("cannot run " + words[0]);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return {};
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return Status::Internal("failed: " + text);
}

// Words separated by blanks: "ip link add v0 type veth".
inline Status RunWords(const std::string& line) {
  std::vector<std::string> words;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return RunProgram(std::move(words));
}

// A network namespace; it exists during the lifetime of the object.
class Namespace {
 public:
  Namespace() {
    std::thread([this] {
      if (unshare(CLONE_NEWNET) == 0) {
        fd_ = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
      }
    }).join();
  }
  ~Namespace() {
    if (fd_ >= 0) close(fd_);
  }
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;

  bool ok() const { return fd_ >= 0; }
  // A path for other programs.
  std::string path() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_);
  }
  // Runs on a thread in the namespace. Sockets that are created there stay in it.
  void Do(const std::function<void()>& work) const {
    std::thread([&] {
      if (setns(fd_, CLONE_NEWNET) == 0) work();
    }).join();
  }
  Status Run(const std::string& line) const {
    Status status = Status::Internal("not run");
    Do([&] { status = RunWords(line); });
    return status;
  }

 private:
  int fd_ = -1;
};

}  // namespace cox::proxy

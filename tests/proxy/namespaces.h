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

// Network namespaces for tests: a node and its Pods on one computer. Needs root.
namespace cox::proxy {

// Runs a program to its end, in the network namespace of the calling thread.
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

// Words with blanks between them: "ip link add v0 type veth".
inline Status RunWords(const std::string& line) {
  std::vector<std::string> words;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return RunProgram(std::move(words));
}

// One namespace, as long as the object lives.
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
  // As other programs can name it.
  std::string path() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_);
  }
  // On a thread that is in the namespace. Sockets that are made there stay there.
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

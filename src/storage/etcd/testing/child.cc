// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/testing/child.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <cerrno>
#include <cstring>

namespace cox::storage {

Result<std::unique_ptr<Child>> Child::Start(std::vector<std::string> arguments,
                                            const std::string& log) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Only what is safe between fork and exec of a program with threads.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  const int error = errno;
  ::close(out);
  if (pid < 0) return Status::Internal(std::string("fork: ") + std::strerror(error));
  return std::make_unique<Child>(pid);
}

Child::~Child() {
  Signal(SIGKILL);
  Wait();
}

void Child::Signal(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

void Child::Wait() {
  int status = 0;
  while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool Child::Runs() {
  int status = 0;
  if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

Result<int> FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = ::bind(fd, generic, size) == 0 && ::getsockname(fd, generic, &size) == 0;
  ::close(fd);
  if (!bound) return Status::Internal(std::string("no free port: ") + std::strerror(errno));
  return ntohs(address.sin_port);
}

}  // namespace cox::storage

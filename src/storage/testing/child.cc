// SPDX-License-Identifier: Apache-2.0
#include "storage/testing/child.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
    // Only async-signal-safe functions are allowed here, because the parent has threads.
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

namespace {

// Below net.ipv4.ip_local_port_range, from which the kernel takes the local ports of outgoing
// connections.
constexpr int kFirstPort = 20000;
constexpr int kPorts = 12000;

bool CanBind(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return bound;
}

// Locks a file for `port`, so that no other test process gets this port while this process runs.
// The descriptor stays open to hold the lock.
bool LeasePort(const std::string& locks, int port) {
  const std::string path = locks + "/" + std::to_string(port);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return false;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && CanBind(port)) return true;
  ::close(fd);
  return false;
}

}  // namespace

Result<int> FreePort() {
  const std::string locks = "/tmp/coxswain-test-ports-" + std::to_string(::getuid());
  if (::mkdir(locks.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return Status::Internal(locks + ": " + std::strerror(errno));
  }
  // The first port depends on the process ID, so that processes rarely try the same port.
  const int first = static_cast<int>(::getpid() * 7919L % kPorts);
  for (int i = 0; i < kPorts; ++i) {
    const int port = kFirstPort + (first + i) % kPorts;
    if (LeasePort(locks, port)) return port;
  }
  return Status::Internal("no free port on the loopback");
}

}  // namespace cox::storage

// SPDX-License-Identifier: Apache-2.0
#include "base/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/fd.h"

extern char** environ;

namespace cox {
namespace {

Status Failed(std::string_view what, int error) {
  return Status::Internal(std::string(what) + ": " + std::strerror(error));
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Variables(const Program& program) {
  std::vector<std::string> variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view name = std::string_view(*at).substr(0, std::strcspn(*at, "="));
    const bool replaced = std::ranges::any_of(
        program.environment, [&](const auto& variable) { return variable.first == name; });
    if (!replaced) variables.emplace_back(*at);
  }
  for (const auto& [name, value] : program.environment) variables.push_back(name + "=" + value);
  return variables;
}

// Frees posix_spawn's file actions and attributes.
class Spawn {
 public:
  Spawn() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  Result<pid_t> Start(const Program& program, int output) {
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    if (!program.interactive) {
      posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    // The child must not inherit files and sockets: some libraries open descriptors without
    // O_CLOEXEC.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    // The signal mask and handlers are not inherited either.
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (!program.interactive) flags |= POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
    std::vector<std::string> arguments = program.arguments;
    std::vector<std::string> variables = Variables(program);
    pid_t pid = -1;
    const int error = posix_spawnp(&pid, arguments.front().c_str(), &actions_, &attributes_,
                                   Pointers(arguments).data(), Pointers(variables).data());
    if (error == 0) return pid;
    if (error == ENOENT || error == EACCES || error == ENOTDIR) {
      return Status::NotFound(arguments.front() + ": " + std::strerror(error));
    }
    return Failed(arguments.front(), error);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Kills and reaps the child on destruction.
class Child {
 public:
  Child(pid_t pid, bool group) : pid_(pid), group_(group) {}
  ~Child() {
    if (reaped_) return;
    kill(group_ ? -pid_ : pid_, SIGKILL);
    Reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int Reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  const pid_t pid_;
  const bool group_;
  bool reaped_ = false;
};

enum class Drained { kMore, kEnd, kTooMuch };

// Reads the available output; `fd` is non-blocking.
Drained Drain(int fd, size_t limit, std::string* output) {
  char buffer[16 * 1024];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? Drained::kMore : Drained::kEnd;
    if (got == 0) return Drained::kEnd;
    if (output->size() + static_cast<size_t>(got) > limit) return Drained::kTooMuch;
    output->append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

Result<ProgramResult> RunProgram(const Context& ctx, const Program& program) {
  if (program.arguments.empty() || program.arguments.front().empty()) {
    return Status::NotFound("no program is named");
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failed("pipe", errno);
  const Fd output(ends[0]);
  Fd input(ends[1]);
  fcntl(output.get(), F_SETFL, O_NONBLOCK);
  const Fd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.valid()) return Failed("eventfd", errno);
  COX_ASSIGN_OR_RETURN(const pid_t pid, Spawn().Start(program, input.get()));
  input.Reset();
  Child child(pid, !program.interactive);
  const Fd ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!ended.valid()) return Failed("pidfd_open", errno);
  const StopHandle on_stop = ctx.OnStop([&stop] { (void)!eventfd_write(stop.get(), 1); });

  ProgramResult result;
  pollfd fds[] = {{output.get(), POLLIN, 0}, {ended.get(), POLLIN, 0}, {stop.get(), POLLIN, 0}};
  for (;;) {
    if (poll(fds, std::size(fds), -1) < 0 && errno != EINTR) return Failed("poll", errno);
    if (ctx.Done()) return ctx.status();
    const bool over = fds[1].revents != 0;
    // Its children may keep the pipe open: only its own exit counts.
    const Drained drained = Drain(output.get(), program.max_output, &result.output);
    if (drained == Drained::kTooMuch) {
      return Status::TooLarge(program.arguments.front() + ": it wrote too much");
    }
    if (drained == Drained::kEnd) fds[0].fd = -1;
    if (over) break;
  }
  result.exit_code = child.Reap();
  return result;
}

}  // namespace cox

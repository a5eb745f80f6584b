// SPDX-License-Identifier: Apache-2.0
#include "cmd/supervise/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/fd.h"
#include "base/file_watch.h"
#include "base/strings.h"

namespace cox::cmd {
namespace {

namespace fs = std::filesystem;

// Files in /proc report no size.
std::string ReadProc(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  ssize_t size = 0;
  while (fd.valid() && (size = ::read(fd.get(), buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(size));
  }
  return text;
}

bool SameFiles(const std::string& proc) {
  struct stat ours {
  }, theirs{};
  return ::stat("/proc/self/ns/mnt", &ours) == 0 &&
         ::stat((proc + "/ns/mnt").c_str(), &theirs) == 0 && ours.st_ino == theirs.st_ino &&
         ours.st_dev == theirs.st_dev;
}

bool IsCalled(const std::string& proc, std::string_view program, std::string_view argument) {
  const std::string words = ReadProc(proc + "/cmdline");
  const Split split(words, '\0');
  auto word = split.begin();
  const std::string_view name = *word;
  if (name.substr(name.rfind('/') + 1) != program) return false;
  for (++word; word != split.end(); ++word) {
    if (*word == argument) return true;
  }
  return false;
}

// Whether the real, effective and saved user IDs are those of this process: other users can start
// programs with any command line, also setuid programs.
bool IsOwn(const std::string& proc) {
  constexpr std::string_view kLine = "\nUid:";
  const std::string text = ReadProc(proc + "/status");
  const size_t at = text.find(kLine);
  if (at == std::string::npos) return false;
  const std::string_view line = std::string_view(text).substr(at + kLine.size());
  const std::string own = std::to_string(::geteuid());
  int ids = 0;
  for (const std::string_view id : Split(line.substr(0, line.find('\n')), '\t')) {
    if (id.empty()) continue;
    if (id != own) return false;
    ++ids;
  }
  return ids >= 3;
}

}  // namespace

std::optional<Process> ProcessOf(pid_t pid) {
  const std::string text = ReadProc("/proc/" + std::to_string(pid) + "/stat");
  // The name, in parentheses, may contain any character. After it come the state and, 19 fields
  // later, the start time.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || text.size() < name_end + 3) return std::nullopt;
  const char state = text[name_end + 2];
  if (state == 'Z' || state == 'X') return std::nullopt;
  int field = 2;
  for (const std::string_view part : Split(std::string_view(text).substr(name_end + 2), ' ')) {
    if (++field != 22) continue;
    Process process{.pid = pid};
    std::from_chars(part.data(), part.data() + part.size(), process.started);
    return process;
  }
  return std::nullopt;
}

bool Runs(const Process& process) { return ProcessOf(process.pid) == process; }

std::vector<Process> FindProcesses(std::string_view program, std::string_view argument) {
  std::vector<Process> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ptr != name.data() + name.size()) continue;
    const std::string proc = entry.path();
    if (!IsCalled(proc, program, argument) || !SameFiles(proc) || !IsOwn(proc)) continue;
    if (const auto process = ProcessOf(pid)) found.push_back(*process);
  }
  return found;
}

std::optional<Process> FindProcess(std::string_view program, std::string_view argument) {
  const std::vector<Process> found = FindProcesses(program, argument);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

bool HasLostItsFolder(const Process& process) {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/" + std::to_string(process.pid) + "/cwd", error);
  return !error && folder.native().ends_with(" (deleted)") && Runs(process);
}

std::string FindProgram(std::string_view name) {
  if (name.find('/') != std::string_view::npos) return std::string(name);
  const char* path = std::getenv("PATH");
  const std::string folders =
      std::string(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path) + ":/usr/sbin:/sbin";
  for (const std::string_view folder : Split(folders, ':')) {
    std::string program = std::string(folder) + "/" + std::string(name);
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

Result<Process> StartProgram(const ProgramStart& start) {
  const std::string program = FindProgram(start.arguments.front());
  if (program.empty()) return Status::NotFound(start.arguments.front() + " is not installed");
  std::error_code error;
  fs::create_directories(start.log.parent_path(), error);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, start.log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  // The program may outlive this process and must not inherit its sockets.
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // This process blocks and ignores signals that the program must receive.
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  std::vector<char*> argv;
  for (const std::string& argument : start.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  std::vector<char*> variables;
  for (const std::string& variable : start.environment) {
    variables.push_back(const_cast<char*>(variable.c_str()));
  }
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  pid_t pid = -1;
  const int failed =
      ::posix_spawn(&pid, program.c_str(), &files, &attributes, argv.data(), variables.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return Status::Internal("cannot start " + program + ": " + std::strerror(failed));
  }
  // If the process has already exited, AwaitEnd detects that.
  return ProcessOf(pid).value_or(Process{.pid = pid});
}

Status AwaitEnd(const Context& ctx, const Process& process) {
  const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  const Fd stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const StopHandle on_stop =
      ctx.OnStop([fd = stopped.get()] { static_cast<void>(::eventfd_write(fd, 1)); });
  // Checked after opening the pidfd, so that it refers to this process and not to a later one with
  // the same pid.
  if (handle.get() >= 0 && Runs(process)) {
    pollfd waiting[] = {{.fd = handle.get(), .events = POLLIN, .revents = 0},
                        {.fd = stopped.get(), .events = POLLIN, .revents = 0}};
    while (::poll(waiting, 2, -1) < 0 && errno == EINTR) {
    }
    if (waiting[0].revents == 0) return ctx.status();
  }
  // Reaps a child; fails harmlessly for other processes.
  while (::waitpid(process.pid, nullptr, WNOHANG) < 0 && errno == EINTR) {
  }
  return {};
}

Status EndProcess(const Context& ctx, const Process& process, std::chrono::milliseconds grace) {
  if (!Runs(process)) return AwaitEnd(ctx, process);
  if (::kill(process.pid, SIGTERM) != 0 && errno == EPERM) {
    return Status::Forbidden("process " + std::to_string(process.pid) + " is another user's");
  }
  if (AwaitEnd(ctx.WithTimeout(grace), process).ok()) return {};
  ::kill(process.pid, SIGKILL);
  return AwaitEnd(ctx, process);
}

}  // namespace cox::cmd

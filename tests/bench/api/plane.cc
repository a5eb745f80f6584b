// SPDX-License-Identifier: Apache-2.0
#include "api/plane.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace cox::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::chrono::seconds kStartLimit{60};
// Between looks at /readyz: a part of what a start takes.
constexpr milliseconds kLookEvery{2};

Result<uint16_t> FreePort() {
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

}  // namespace

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
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
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

nanoseconds CpuOf(pid_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

int64_t ResidentBytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

Result<std::unique_ptr<Plane>> Plane::Start(Context& ctx, const PlaneOptions& options) {
  auto plane = std::make_unique<Plane>();
  plane->options_ = options;
  std::string folder = (std::filesystem::temp_directory_path() / "cox-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return Status::Internal("cannot make " + folder);
  plane->directory_ = folder;
  storage::EtcdServerOptions etcd;
  etcd.fsync = options.fsync;
  COX_ASSIGN_OR_RETURN(plane->etcd_, storage::EtcdServer::Start(ctx, etcd));
  std::ofstream(folder + "/tokens.csv") << kToken << ",admin,admin-uid,\"system:masters\"\n";
  COX_RETURN_IF_ERROR(plane->Launch(ctx));
  return plane;
}

Plane::~Plane() {
  server_.reset();
  etcd_.reset();
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Status Plane::Restart(Context& ctx) {
  server_.reset();
  return Launch(ctx);
}

Status Plane::Launch(Context& ctx) {
  COX_ASSIGN_OR_RETURN(port_, FreePort());
  const Clock::SteadyTime began = ctx.clock().Monotonic();
  COX_ASSIGN_OR_RETURN(
      server_,
      Child::Start({options_.binary, "apiserver", "--etcd-servers", etcd_->url(), "--secure-port",
                    std::to_string(port_), "--bind-address", "127.0.0.1", "--cert-dir",
                    directory_ + "/certs", "--token-auth-file", directory_ + "/tokens.csv",
                    "--authorization-mode", "Node,RBAC", "--service-cluster-ip-range",
                    "10.96.0.0/16", "--disable-admission-plugins", "ServiceAccount"},
                   directory_ + "/log"));
  COX_RETURN_IF_ERROR(AwaitReady(ctx));
  startup_ = ctx.clock().Monotonic() - began;
  return {};
}

Status Plane::AwaitReady(Context& ctx) {
  Context limit = ctx.WithTimeout(kStartLimit);
  while (!limit.Done()) {
    if (!server_->Runs()) return Status::Internal("the API server ended; see " + directory_);
    COX_ASSIGN_OR_RETURN(auto client, NewClient(ctx, 1));
    Result<net::Response> answer = client->Do(limit, NewRequest("GET", "/readyz"));
    if (answer.ok() && answer->status == 200) return {};
    COX_RETURN_IF_ERROR(limit.Sleep(kLookEvery));
  }
  return limit.status();
}

Result<std::unique_ptr<net::Client>> Plane::NewClient(const Context& ctx, int connections) const {
  net::ClientOptions options;
  options.host = "127.0.0.1";
  options.port = port_;
  options.tls_options.insecure = true;
  options.connections = connections;
  return net::Client::Create(ctx, std::move(options));
}

Result<std::unique_ptr<storage::EtcdStore>> Plane::NewEtcd(const Context& ctx) const {
  return storage::ConnectEtcd(ctx, etcd_->ClientOptions());
}

net::Request Plane::NewRequest(std::string method, std::string target, std::string body) const {
  net::Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers.Add("authorization", "Bearer " + std::string(kToken));
  if (!body.empty()) request.headers.Add("content-type", "application/json");
  request.body = std::move(body);
  return request;
}

}  // namespace cox::bench

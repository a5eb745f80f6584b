// SPDX-License-Identifier: Apache-2.0
#include "api/plane.h"

#include <unistd.h>
#include <csignal>
#include <ctime>

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
// Poll interval of /readyz, short relative to a start.
constexpr milliseconds kLookEvery{2};

}  // namespace

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
  std::ofstream(folder + "/tokens.csv") << kToken << ",admin,admin-uid,\"system:masters\"\n"
                                        << options.more_tokens;
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
  COX_ASSIGN_OR_RETURN(const int port, storage::FreePort());
  port_ = static_cast<uint16_t>(port);
  const Clock::SteadyTime began = ctx.clock().Monotonic();
  std::vector<std::string> arguments = {options_.binary,
                                        "apiserver",
                                        "--etcd-servers",
                                        etcd_->url(),
                                        "--secure-port",
                                        std::to_string(port_),
                                        "--bind-address",
                                        "127.0.0.1",
                                        "--cert-dir",
                                        directory_ + "/certs",
                                        "--token-auth-file",
                                        directory_ + "/tokens.csv",
                                        "--service-cluster-ip-range",
                                        "10.96.0.0/16"};
  arguments.insert(arguments.end(), options_.guards.begin(), options_.guards.end());
  COX_ASSIGN_OR_RETURN(server_, storage::Child::Start(arguments, directory_ + "/log"));
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "net/client.h"
#include "storage/etcd/etcd_store.h"
#include "storage/testing/child.h"
#include "storage/testing/etcd_server.h"

namespace cox::bench {

// The CPU time of a process and all its threads, including terminated ones.
std::chrono::nanoseconds CpuOf(pid_t pid);
// The resident memory of a process.
int64_t ResidentBytes(pid_t pid);

struct PlaneOptions {
  std::string binary;            // coxswain
  bool fsync = true;             // etcd syncs to disk, as in production
  std::string more_tokens = {};  // lines of the token file in addition to the administrator's
  // Authorization and admission flags. ServiceAccount would need an account that a controller
  // creates.
  std::vector<std::string> guards = {"--authorization-mode", "Node,RBAC",
                                     "--disable-admission-plugins", "ServiceAccount"};
};

// The control plane to measure: a real etcd and an API server, in their own processes and folders.
//
// Threads: not thread-safe; for the clients see their own documentation.
class Plane {
 public:
  static Result<std::unique_ptr<Plane>> Start(Context& ctx, const PlaneOptions& options);
  Plane() = default;  // use Start()
  ~Plane();

  pid_t pid() const { return server_->pid(); }
  pid_t etcd_pid() const { return etcd_->pid(); }
  std::chrono::nanoseconds Cpu() const { return CpuOf(pid()); }
  int64_t Resident() const { return ResidentBytes(pid()); }
  // From exec of the API server to the first "ok" of /readyz.
  std::chrono::nanoseconds startup() const { return startup_; }

  // Stops the API server and starts it on the same etcd.
  Status Restart(Context& ctx);

  // A client of the user admin with this number of connections.
  Result<std::unique_ptr<net::Client>> NewClient(const Context& ctx, int connections = 4) const;
  Result<std::unique_ptr<storage::EtcdStore>> NewEtcd(const Context& ctx) const;
  net::Request NewRequest(std::string method, std::string target, std::string body = {}) const;

  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  // For files of the measurement; removed with the plane.
  const std::string& folder() const { return directory_; }
  static constexpr std::string_view kToken = "bench-admin";

 private:
  Status Launch(Context& ctx);
  Status AwaitReady(Context& ctx);

  PlaneOptions options_;
  std::string directory_;
  uint16_t port_ = 0;
  std::chrono::nanoseconds startup_{};
  std::unique_ptr<storage::EtcdServer> etcd_;
  std::unique_ptr<storage::Child> server_;
};

}  // namespace cox::bench

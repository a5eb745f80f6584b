// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "net/tls.h"
#include "storage/etcd/etcd_store.h"
#include "storage/testing/child.h"

// Real etcd servers for tests: started on free ports with their own directories, and killed with
// the object or with the test program.
namespace cox::storage {

struct EtcdServerOptions {
  bool tls = false;  // https with required client certificates
  // The maximum size of the database; 0: etcd's default.
  int64_t quota_bytes = 0;
  // Syncs writes to disk, as in production. Without it, a power failure loses data, but a killed
  // process does not.
  bool fsync = false;
};

// One etcd process with fault injection.
//
// Threads: one thread at a time.
class EtcdServer {
 public:
  // Whether there is an etcd executable on this machine.
  static bool Available();
  // Starts a cluster with one member and waits until it is ready.
  static Result<std::unique_ptr<EtcdServer>> Start(Context& ctx, EtcdServerOptions options = {});
  struct Private {};  // use Start()
  explicit EtcdServer(Private /*only for Prepare*/) {}
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  std::string url() const;
  // Options to connect to it, including certificates.
  EtcdOptions ClientOptions() const;
  pid_t pid() const { return child_ == nullptr ? -1 : child_->pid(); }
  std::string log_file() const { return directory_ + "/log"; }

  void Kill();    // kill -9
  void Pause();   // kill -STOP: keeps its connections but does not respond
  void Resume();  // kill -CONT
  // After Kill(): restarts with the same data and ports.
  Status Restart(Context& ctx);
  // Waits until it answers a linearizable read.
  Status AwaitReady(Context& ctx) const;

 private:
  friend class EtcdCluster;
  static Result<std::unique_ptr<EtcdServer>> Prepare(const EtcdServerOptions& options,
                                                     std::string name);
  std::string peer_url() const;
  Status WriteCertificates();
  Status Launch();

  EtcdServerOptions options_;
  std::string name_;
  std::string cluster_;  // --initial-cluster
  std::string directory_;
  int client_port_ = 0;
  int peer_port_ = 0;
  std::unique_ptr<Child> child_;
  std::optional<net::ClientTls> client_tls_;
};

// Several members of one cluster.
class EtcdCluster {
 public:
  static Result<std::unique_ptr<EtcdCluster>> Start(Context& ctx, int members,
                                                    EtcdServerOptions options = {});
  size_t size() const { return members_.size(); }
  EtcdServer& member(size_t index) { return *members_[index]; }
  // Options with the endpoints of all members.
  EtcdOptions ClientOptions() const;
  // The index of the leader as reported by the members; nullopt if there is no leader.
  std::optional<size_t> Leader(Context& ctx);

 private:
  std::vector<std::unique_ptr<EtcdServer>> members_;
};

}  // namespace cox::storage

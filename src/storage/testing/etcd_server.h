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

// Real etcd servers for tests: started on free ports with a directory of their own, and ended with
// the object, or with the test program.
namespace cox::storage {

struct EtcdServerOptions {
  bool tls = false;  // https, and clients must show a certificate
  // The size at which the database counts as full; 0: etcd's default.
  int64_t quota_bytes = 0;
  // Waits for the disk, as in production. Without, a machine that loses power loses data, a process
  // that is killed does not.
  bool fsync = false;
};

// One etcd process that can be hurt.
//
// Threads: one at a time.
class EtcdServer {
 public:
  // There is an etcd program on this machine.
  static bool Available();
  // Starts a cluster of one and waits until it answers.
  static Result<std::unique_ptr<EtcdServer>> Start(Context& ctx, EtcdServerOptions options = {});
  struct Private {};  // use Start()
  explicit EtcdServer(Private /*only for Prepare*/) {}
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  std::string url() const;
  // How to reach it, certificates included.
  EtcdOptions ClientOptions() const;
  pid_t pid() const { return child_ == nullptr ? -1 : child_->pid(); }
  std::string log_file() const { return directory_ + "/log"; }

  void Kill();    // kill -9
  void Pause();   // kill -STOP: it keeps its connections and says nothing
  void Resume();  // kill -CONT
  // After Kill(): the same data and ports.
  Status Restart(Context& ctx);
  // Until it answers a read that needs the agreement of the cluster.
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
  // All members.
  EtcdOptions ClientOptions() const;
  // Which member leads, asked of the others; none while there is no leader.
  std::optional<size_t> Leader(Context& ctx);

 private:
  std::vector<std::unique_ptr<EtcdServer>> members_;
};

}  // namespace cox::storage

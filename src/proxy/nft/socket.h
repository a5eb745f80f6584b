// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/nft/batch.h"

namespace cox::proxy::nft {

// Who makes changes: the kernel, or a test that only looks at them.
class Committer {
 public:
  virtual ~Committer() = default;
  // All of it or nothing.
  virtual Status Commit(const Batch& batch) = 0;
  // False if it is gone: `nft flush ruleset`, with which many a firewall begins, takes the tables
  // of all.
  virtual bool HasTable(Family /*family*/, std::string_view /*table*/) { return true; }
};

// The packet filter of this network namespace, by netlink.
//
// Threads: one call at a time.
// Errors: Forbidden without CAP_NET_ADMIN; Conflict if the kernel refuses (the table is not as we
//   left it: replace it whole); Unavailable if it has no nf_tables.
class Socket final : public Committer {
 public:
  static Result<std::unique_ptr<Socket>> Open();
  explicit Socket(int fd) : fd_(fd) {}  // use Open()
  ~Socket() override;

  Status Commit(const Batch& batch) override;
  bool HasTable(Family family, std::string_view table) override;

 private:
  Status Send(const std::string& messages);
  Status ReadAnswers(uint32_t last);

  const int fd_;
};

}  // namespace cox::proxy::nft

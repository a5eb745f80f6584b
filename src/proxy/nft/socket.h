// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/nft/batch.h"

namespace cox::proxy::nft {

// Applies changes: the kernel, or a fake in tests.
class Committer {
 public:
  virtual ~Committer() = default;
  // Applies all of the batch or nothing.
  virtual Status Commit(const Batch& batch) = 0;
  // False if the table is missing: `nft flush ruleset`, which many firewalls run at start, removes
  // all tables.
  virtual bool HasTable(Family /*family*/, std::string_view /*table*/) { return true; }
  // Returns the chains and sets of a table; none if it does not exist.
  virtual Result<Listing> List(Family /*family*/, std::string_view /*table*/) { return Listing(); }
};

// The nftables of this network namespace, over netlink.
//
// Threads: one call at a time.
// Errors: Forbidden without CAP_NET_ADMIN; Conflict if the kernel rejects the batch (the table was
//   changed by another program: replace it); Unavailable if the kernel has no nf_tables.
class Socket final : public Committer {
 public:
  static Result<std::unique_ptr<Socket>> Open();
  explicit Socket(int fd) : fd_(fd) {}  // use Open()
  ~Socket() override;

  Status Commit(const Batch& batch) override;
  bool HasTable(Family family, std::string_view table) override;
  Result<Listing> List(Family family, std::string_view table) override;

 private:
  Status Send(const std::string& messages);
  Status ReadAcks(uint32_t last);
  // Calls `take` with the attributes of each object of the family.
  Status Dump(Family family, uint16_t type, const std::function<void(std::string_view)>& take);

  const int fd_;
};

}  // namespace cox::proxy::nft

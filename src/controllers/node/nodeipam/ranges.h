// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "controllers/node/nodeipam/cidr_set.h"
#include "controllers/node/nodeipam/options.h"

namespace cox::controllers {

// The subnets of each node: one from each of the cluster's ranges.
//
// Threads: all methods may be called concurrently.
class Ranges {
 public:
  // Returns BadRequest if the flags are inconsistent.
  static Result<std::unique_ptr<Ranges>> Create(const NodeIpamOptions& options);
  explicit Ranges(std::vector<CidrSet> sets) : sets_(std::move(sets)) {}  // use Create

  // Records the node's podCIDRs and releases subnets that were reserved for it before.
  void Note(const std::string& node, const List<std::string>& cidrs);
  // Returns the subnets for the node, the same ones until Note or Forget. Returns nullopt if a
  // range is exhausted.
  std::optional<List<std::string>> Reserve(const std::string& node);
  void Forget(const std::string& node);

  struct Usage {
    size_t used = 0, size = 0;
  };
  std::vector<Usage> usage() const;

 private:
  void Release(const std::string& node) COX_REQUIRES(mu_);

  mutable Mutex mu_;
  std::vector<CidrSet> sets_ COX_GUARDED_BY(mu_);
  std::map<std::string, List<std::string>> held_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::controllers

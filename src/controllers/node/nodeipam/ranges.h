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

// Which node has which subnets: one of each of the cluster's ranges.
//
// Threads: all methods may be called concurrently.
class Ranges {
 public:
  // As the flags say; BadRequest where they contradict each other.
  static Result<std::unique_ptr<Ranges>> Create(const NodeIpamOptions& options);
  explicit Ranges(std::vector<CidrSet> sets) : sets_(std::move(sets)) {}  // use Create

  // The node has these, whoever gave them; what was kept for it before is free again.
  void Note(const std::string& node, const List<std::string>& cidrs);
  // What the node shall have; the same each time it is asked for, until Note or Forget. None: a
  // range is used up.
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

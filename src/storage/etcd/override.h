// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "storage/etcd/etcd_store.h"

namespace cox::storage {

// A resource with its own etcd servers, for example events and leases, so that their many writes do
// not slow down other resources.
struct EtcdOverride {
  std::string group;  // empty: the core group
  std::string resource;
  std::vector<std::string> servers;

  bool operator==(const EtcdOverride&) const = default;
};

// One value of --etcd-servers-overrides: "group/resource#server1;server2", as in
// "/events#https://10.0.0.4:2379;https://10.0.0.5:2379" and "coordination.k8s.io/leases#...".
// Errors: BadRequest that describes the problem.
Result<EtcdOverride> ParseEtcdOverride(std::string_view text);

// The stores of an API server, by resource.
//
// Resources with the same servers share a store.
// Threads: all methods may be called concurrently.
// Ownership: owns the stores.
class StoreRouter {
 public:
  using Connect = std::function<Result<std::unique_ptr<EtcdStore>>(EtcdOptions options)>;

  // `options` apply to all resources without an override; overrides replace only the servers. If a
  // resource has several overrides, the last one wins.
  static Result<std::unique_ptr<StoreRouter>> Create(const EtcdOptions& options,
                                                     const std::vector<EtcdOverride>& overrides,
                                                     const Connect& connect);

  EtcdStore& For(std::string_view group, std::string_view resource) const;
  // Each store once, the default store first. For compaction, health checks and metrics.
  const std::vector<std::unique_ptr<EtcdStore>>& stores() const { return stores_; }

 private:
  std::vector<std::unique_ptr<EtcdStore>> stores_;
  std::map<std::pair<std::string, std::string>, EtcdStore*, std::less<>> overrides_;
};

}  // namespace cox::storage

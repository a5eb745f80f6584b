// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"

namespace cox::storage::etcd {

// Leases for keys with a TTL, shared by keys that are written close in time: thousands of events
// per minute need one lease per minute instead of thousands.
//
// A lease lasts longer than the TTL by 1/20 of it (1 s to 60 s), and is used for new keys while its
// remaining time is at least their TTL. So a key lives at least its TTL, and at most that much
// longer. After kMaxKeys keys a new lease is granted, because etcd expires all keys of a lease at
// once.
//
// Threads: all methods may be called concurrently; one caller requests the lease, others wait.
class LeasePool {
 public:
  static constexpr int kMaxKeys = 1000;

  // Requests a lease from etcd and returns its ID.
  using Grant = std::function<Result<int64_t>(const Context& ctx, std::chrono::seconds ttl)>;
  explicit LeasePool(Grant grant) : grant_(std::move(grant)) {}

  // A lease that lasts at least `ttl` from now. REQUIRES: ttl > 0
  Result<int64_t> LeaseFor(const Context& ctx, std::chrono::seconds ttl);
  // Stops using a lease that no longer exists in etcd.
  void Forget(int64_t lease);

 private:
  struct Lease {
    int64_t id = 0;  // 0: none yet
    Clock::SteadyTime use_until;
    int keys = 0;
    bool granting = false;
  };

  const Grant grant_;
  Mutex mu_;
  CondVar granted_;
  std::map<std::chrono::seconds, Lease> leases_ COX_GUARDED_BY(mu_);  // the newest per TTL
};

}  // namespace cox::storage::etcd

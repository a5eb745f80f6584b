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

// Leases for keys with a ttl, shared by keys that are written close in time: thousands of events a
// minute make one lease a minute, not thousands.
//
// A lease for a ttl lasts a little longer than that (a twentieth, at most a minute), and serves all
// keys that are written in the beginning, as long as it lasts their ttl. So a key lives at least
// its ttl, and at most that little longer. After kMaxKeys keys there is a new one, because etcd
// expires all keys of a lease at one stroke.
//
// Threads: all methods may be called concurrently; one asks for a lease, the others wait for it.
class LeasePool {
 public:
  static constexpr int kMaxKeys = 1000;

  // Asks etcd for a lease and returns its id.
  using Grant = std::function<Result<int64_t>(const Context& ctx, std::chrono::seconds ttl)>;
  explicit LeasePool(Grant grant) : grant_(std::move(grant)) {}

  // A lease that lasts `ttl` from now. REQUIRES: ttl > 0
  Result<int64_t> LeaseFor(const Context& ctx, std::chrono::seconds ttl);
  // etcd does not know the lease any more.
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
  std::map<std::chrono::seconds, Lease> leases_ COX_GUARDED_BY(mu_);  // the newest of each ttl
};

}  // namespace cox::storage::etcd

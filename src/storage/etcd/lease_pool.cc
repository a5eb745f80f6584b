// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/lease_pool.h"

#include <algorithm>

namespace cox::storage::etcd {

using std::chrono::seconds;

Result<int64_t> LeasePool::LeaseFor(const Context& ctx, seconds ttl) {
  MutexLock lock(mu_);
  Lease& lease = leases_[ttl];  // never removed: there are few different TTLs
  while (true) {
    if (lease.id != 0 && lease.keys < kMaxKeys && ctx.clock().Monotonic() < lease.use_until) {
      ++lease.keys;
      return lease.id;
    }
    if (!lease.granting) break;
    COX_RETURN_IF_ERROR(ctx.Await(mu_, granted_, [&lease]() { return !lease.granting; }));
  }
  lease.granting = true;
  lock.Unlock();
  const seconds extra = std::clamp(ttl / 20, seconds(1), seconds(60));
  // Taken before the grant, so that it does not exceed the lease's lifetime.
  const Clock::SteadyTime use_until = ctx.clock().In(extra);
  const Result<int64_t> id = grant_(ctx, ttl + extra);
  lock.Lock();
  lease.granting = false;
  granted_.NotifyAll();
  if (!id.ok()) return id.status();
  lease.id = *id;
  lease.use_until = use_until;
  lease.keys = 1;
  return *id;
}

void LeasePool::Forget(int64_t lease) {
  MutexLock lock(mu_);
  for (auto& [ttl, held] : leases_) {
    if (held.id == lease) held.id = 0;
  }
}

}  // namespace cox::storage::etcd

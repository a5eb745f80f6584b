// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/inflight_limit.h"

namespace cox::apiserver {

InFlightLimit::InFlightLimit(const FairnessOptions& options, Clock& clock)
    : clock_(clock), reads_(std::make_shared<Pool>()), writes_(std::make_shared<Pool>()) {
  reads_->limit = options.max_requests_inflight;
  writes_->limit = options.max_mutating_requests_inflight;
}

bool InFlightLimit::Enter(const std::shared_ptr<Call>& call) {
  if (call->info.long_running) return true;
  const std::string& verb = call->info.verb;
  const bool reads = verb == "get" || verb == "list" || verb == "watch";
  const std::shared_ptr<Pool>& pool = reads ? reads_ : writes_;
  if (pool->limit <= 0) return true;
  const bool inside = pool->inside.fetch_add(1, std::memory_order_relaxed) < pool->limit;
  // Administrators must be able to access an overloaded server.
  if (inside || call->user.InGroup(kMastersGroup)) {
    call->Hold(std::shared_ptr<void>(
        nullptr, [pool](void*) { pool->inside.fetch_sub(1, std::memory_order_relaxed); }));
    return true;
  }
  pool->inside.fetch_sub(1, std::memory_order_relaxed);
  int64_t wait = 1;
  {
    MutexLock lock(mu_);
    retry_after_.OnRejected(clock_.Monotonic());
    wait = retry_after_.seconds();
  }
  RejectTooManyRequests(*call, wait);
  return false;
}

}  // namespace cox::apiserver

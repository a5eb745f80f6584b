// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/fairness/gate.h"
#include "apiserver/filters/fairness/retry_after.h"
#include "apiserver/filters/fairness/write_lag.h"
#include "base/metrics.h"
#include "base/mutex.h"

namespace cox::apiserver {

// Rejects writes of Events with 429 and Retry-After while the server is behind, for all users,
// because Events are the writes that a cluster needs least. Other requests pass to the inner gate.
//
// Threads: All methods may be called concurrently.
// Lifetime: The inner gate and `lag` must outlive it.
class EventShedding final : public RequestGate {
 public:
  EventShedding(RequestGate& inner, WriteLag& lag, Clock& clock, MetricsRegistry& metrics);

  bool Enter(const std::shared_ptr<Call>& call) override;

 private:
  RequestGate& inner_;
  WriteLag& lag_;
  Clock& clock_;
  Counter& shed_;
  Mutex mu_;
  RetryAfter retry_after_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::apiserver

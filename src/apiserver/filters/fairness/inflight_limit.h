// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "apiserver/filters/fairness/gate.h"
#include "apiserver/filters/fairness/retry_after.h"
#include "base/mutex.h"

namespace cox::apiserver {

// The gate for --enable-priority-and-fairness=false: limits concurrent reads and writes, regardless
// of the user, and rejects requests above the limit. Long-running requests (watches, streams) are
// not counted, and system:masters are never rejected. A limit of 0 means no limit.
class InFlightLimit final : public RequestGate {
 public:
  InFlightLimit(const FairnessOptions& options, Clock& clock);

  bool Enter(const std::shared_ptr<Call>& call) override;

 private:
  // Shared with executing calls, which may outlive this object.
  struct Pool {
    int limit;
    std::atomic<int> inside = 0;
  };

  Clock& clock_;
  const std::shared_ptr<Pool> reads_;
  const std::shared_ptr<Pool> writes_;
  Mutex mu_;
  RetryAfter retry_after_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::apiserver

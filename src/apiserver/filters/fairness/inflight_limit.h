// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "apiserver/filters/fairness/gate.h"
#include "apiserver/filters/fairness/retry_after.h"
#include "base/mutex.h"

namespace cox::apiserver {

// The gate of servers with --enable-priority-and-fairness=false: so many reads and so many writes
// at once, whoever makes them. What is over is refused. Requests that last (watches, streams) and
// those of system:masters are not counted. A limit of 0 is none.
class InFlightLimit final : public RequestGate {
 public:
  InFlightLimit(const FairnessOptions& options, Clock& clock);

  bool Enter(const std::shared_ptr<Call>& call) override;

 private:
  // Shared with the calls that are inside, which may outlive this.
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

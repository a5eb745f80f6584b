// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "apiserver/request/call.h"

namespace cox::apiserver {

// Keeps a server from taking more requests at once than it can serve.
//
// Threads: Enter may be called concurrently, on the connections' loops: it does not block.
class RequestGate {
 public:
  virtual ~RequestGate() = default;

  // True: the call goes on here and now, holding what it needs (Call::Hold). False: it is somebody
  // else's now: it waits and will be resumed, or it has been refused.
  // REQUIRES: call->info and call->user are known.
  virtual bool Enter(const std::shared_ptr<Call>& call) = 0;
};

// What --max-requests-inflight and its like say.
struct FairnessOptions {
  bool enabled = true;                       // false: InFlightLimit
  int max_requests_inflight = 400;           // reads
  int max_mutating_requests_inflight = 200;  // writes; with fairness the sum of both counts
};

// 429 in upstream's words.
inline void RefuseTooMany(Call& call, int64_t retry_after_seconds) {
  call.AddHeader("retry-after", std::to_string(retry_after_seconds));
  call.RespondText(429, "Too many requests, please try again later.\n");
}

}  // namespace cox::apiserver

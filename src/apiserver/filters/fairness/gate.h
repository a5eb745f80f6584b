// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "apiserver/request/call.h"

namespace cox::apiserver {

// Limits the number of concurrent requests.
//
// Threads: Enter may be called concurrently, on the connections' event loops: it does not block.
class RequestGate {
 public:
  virtual ~RequestGate() = default;

  // True: the call continues on this thread, holding its resources (Call::Hold). False: the call
  // waits and will be resumed, or it has been rejected.
  // REQUIRES: call->info and call->user are set.
  virtual bool Enter(const std::shared_ptr<Call>& call) = 0;
};

// --max-requests-inflight and related flags.
struct FairnessOptions {
  bool enabled = true;                       // false: InFlightLimit
  int max_requests_inflight = 400;           // reads
  int max_mutating_requests_inflight = 200;  // writes; APF uses the sum of both
};

// Responds with 429 and upstream's text.
inline void RejectTooManyRequests(Call& call, int64_t retry_after_seconds) {
  call.AddHeader("retry-after", std::to_string(retry_after_seconds));
  call.RespondText(429, "Too many requests, please try again later.\n");
}

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/context.h"
#include "net/http.h"

namespace cox::sdk {

// A request with this header is sent once, because its sender retries or drops it. The header is
// not sent.
inline constexpr std::string_view kSendOnce = "x-coxswain-send-once";

// Decides whether a request is retried, and after which delay. Create one per request and call it
// after each attempt:
//
//   429 or 5xx with Retry-After        after that time, for all requests: the server did not
//                                      process the request
//   connection failure before sending  with backoff, for all requests
//   connection failure after sending   with backoff, for reads only
//   anything else                      no retry
//
// The total time is limited by `budget` and the context's deadline.
// Delays have up to 20% random jitter, so that clients rejected at the same time do not retry at
// the same time.
class Retry {
 public:
  Retry(const Context& ctx, Clock::Duration budget, bool read_only);

  std::optional<Clock::Duration> AfterFailure(const Status& status);
  std::optional<Clock::Duration> DelayAfterResponse(int code, const net::Headers& headers);

 private:
  std::optional<Clock::Duration> Within(Clock::Duration wait);

  const Context& ctx_;
  const Clock::SteadyTime until_;
  const bool read_only_;
  Clock::Duration backoff_;
};

}  // namespace cox::sdk

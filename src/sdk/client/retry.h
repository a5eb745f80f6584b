// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/context.h"
#include "net/http.h"

namespace cox::sdk {

// Whether one request is sent again, and after which wait. Made for a request, asked after each
// attempt:
//
//   answer of 429 or 5xx with Retry-After      after what it says, whatever the request: the server
//                                              has not looked at it
//   connection that broke before it was sent   with backoff, whatever the request
//   connection that broke later                with backoff, if it only reads
//   all else                                   no: that is the answer
//
// for no longer than `budget` altogether, and not when the context would end first.
// Waits have up to a fifth more, drawn at random: those who were sent away together shall not come
// back together.
class Retry {
 public:
  Retry(const Context& ctx, Clock::Duration budget, bool read_only);

  std::optional<Clock::Duration> AfterFailure(const Status& status);
  std::optional<Clock::Duration> AfterAnswer(int code, const net::Headers& headers);

 private:
  std::optional<Clock::Duration> Within(Clock::Duration wait);

  const Context& ctx_;
  const Clock::SteadyTime until_;
  const bool read_only_;
  Clock::Duration backoff_;
};

}  // namespace cox::sdk

// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/retry.h"

#include <algorithm>
#include <random>

#include "base/random.h"
#include "coxswain/transport.h"
#include "sdk/client/response/status_response.h"

namespace cox::sdk {
namespace {

constexpr Clock::Duration kFirstBackoff = std::chrono::milliseconds(50);
constexpr Clock::Duration kMaxBackoff = std::chrono::seconds(5);
constexpr double kJitter = 0.2;

}  // namespace

Retry::Retry(const Context& ctx, Clock::Duration budget, bool read_only)
    : ctx_(ctx),
      until_(ctx.clock().Monotonic() + budget),
      read_only_(read_only),
      backoff_(kFirstBackoff) {}

std::optional<Clock::Duration> Retry::Within(Clock::Duration wait) {
  const double factor = 1 + kJitter * RandomFraction();
  wait = std::chrono::duration_cast<Clock::Duration>(wait * factor);
  const Clock::SteadyTime at = ctx_.clock().Monotonic() + wait;
  if (at > until_ || at >= ctx_.deadline()) return std::nullopt;
  return wait;
}

std::optional<Clock::Duration> Retry::AfterFailure(const Status& status) {
  if (!status.Is(Reason::kServiceUnavailable) || ctx_.Done()) return std::nullopt;
  if (!read_only_ && !NotSent(status)) return std::nullopt;
  const Clock::Duration wait = backoff_;
  backoff_ = std::min(backoff_ * 2, kMaxBackoff);
  return Within(wait);
}

std::optional<Clock::Duration> Retry::DelayAfterResponse(int code, const net::Headers& headers) {
  if (code != 429 && (code < 500 || code > 599)) return std::nullopt;
  const std::optional<int> seconds = RetryAfter(headers);
  if (!seconds) return std::nullopt;
  // An immediate retry by all clients would overload the server.
  return Within(*seconds == 0 ? kFirstBackoff : Clock::Duration(std::chrono::seconds(*seconds)));
}

}  // namespace cox::sdk

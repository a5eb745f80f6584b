// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "coxswain/fencing.h"

namespace cox {
namespace {

// The type of the cause in the Status.
constexpr std::string_view kCauseType = "LeadershipLost";

bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::string FencingToken::ToString() const {
  return lease.ns + "/" + lease.name + ";" + holder + ";" + std::to_string(transitions);
}

Result<FencingToken> FencingToken::Parse(std::string_view text) {
  const Status malformed =
      Status::BadRequest("malformed " + std::string(kFencingHeader) +
                         " header: must be <namespace>/<lease>;<holder>;<leaseTransitions>");
  if (text.size() > kMaxSize || !IsVisible(text)) return malformed;
  const size_t first = text.find(';');
  const size_t last = text.rfind(';');
  if (first == std::string_view::npos || first == last) return malformed;
  FencingToken token{.lease = ObjectKey::Parse(text.substr(0, first)),
                     .holder = std::string(text.substr(first + 1, last - first - 1))};
  const std::string_view number = text.substr(last + 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), token.transitions);
  const bool whole = error == std::errc() && end == number.data() + number.size();
  if (!whole || token.transitions < 0) return malformed;
  // A term has a holder, and a Lease has a namespace.
  if (token.lease.ns.empty() || token.lease.name.empty() || token.holder.empty()) return malformed;
  return token;
}

Status DeposedStatus(Reason reason, std::string message) {
  StatusDetails details{.causes = {{.type = std::string(kCauseType), .message = message}}};
  return {reason, std::move(message), std::move(details)};
}

bool IsDeposed(const Status& status) {
  const std::vector<StatusCause>& causes = status.details().causes;
  return std::any_of(causes.begin(), causes.end(),
                     [](const StatusCause& cause) { return cause.type == kCauseType; });
}

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#include "net/client/not_sent.h"

#include <algorithm>
#include <utility>

namespace cox::net {
namespace {

constexpr std::string_view kCause = "RequestNotSent";

}  // namespace

Status MarkNotSent(const Status& status) {
  if (!status.Is(Reason::kServiceUnavailable) || NotSent(status)) return status;
  StatusDetails details = status.details();
  details.causes.push_back({.type = std::string(kCause), .message = {}, .field = {}});
  return status.WithDetails(std::move(details));
}

bool NotSent(const Status& status) {
  return status.Is(Reason::kServiceUnavailable) &&
         std::ranges::any_of(status.details().causes,
                             [](const StatusCause& cause) { return cause.type == kCause; });
}

}  // namespace cox::net

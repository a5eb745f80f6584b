// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/meta/v1.h"
#include "base/status.h"

namespace cox {

// Converts a Status to the API's Status object; `details` is set only if there are any.
inline meta::v1::Status ToApiStatus(const Status& status) {
  meta::v1::Status out;
  out.status = status.ok() ? "Success" : "Failure";
  if (status.ok()) return out;
  out.message = status.message();
  out.reason = ReasonName(status.reason());
  out.code = status.code();
  const StatusDetails& details = status.details();
  if (details == StatusDetails()) return out;
  meta::v1::StatusDetails& to = out.details.emplace();
  to.name = details.name;
  to.group = details.group;
  to.kind = details.kind;
  to.uid = details.uid;
  to.retryAfterSeconds = details.retry_after_seconds;
  for (const StatusCause& cause : details.causes) {
    to.causes.push_back({.reason = cause.type, .message = cause.message, .field = cause.field});
  }
  return out;
}

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "storage/store.h"

// Errors whose text is the same in every Store.
namespace cox::storage {

inline Status KeyExistsError(std::string_view key) {
  return Status::AlreadyExists("key \"" + std::string(key) + "\" exists already");
}

// `revision` is older than the oldest revision that is not compacted. `oldest` is 0 if unknown.
inline Status CompactedError(Revision revision, Revision oldest) {
  std::string message = "revision " + std::to_string(revision) + " was compacted";
  if (oldest > 0) message += ", the oldest is " + std::to_string(oldest);
  return Status::Expired(std::move(message));
}

// The revision does not exist yet. A retry after one second may succeed.
inline Status FutureRevisionError(std::string message) {
  StatusDetails details;
  details.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  details.retry_after_seconds = 1;
  return Status(Reason::kTimeout, std::move(message), std::move(details));
}
// Uses the error message of the Kubernetes API.
inline Status FutureRevisionError(Revision revision, Revision current) {
  return FutureRevisionError("Timeout: Too large resource version: " + std::to_string(revision) +
                             ", current: " + std::to_string(current));
}
inline bool IsFutureRevision(const Status& status) {
  return status.Is(Reason::kTimeout) && !status.details().causes.empty() &&
         status.details().causes.front().type == "ResourceVersionTooLarge";
}

inline Status ValueTooLargeError() { return Status::TooLarge("etcdserver: request is too large"); }

}  // namespace cox::storage

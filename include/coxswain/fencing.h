// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coxswain/object_key.h"

namespace cox {

// Header that identifies the leadership term of a write. A Coxswain API server compares it with the
// Lease, both when it receives the request and in the transaction that stores the object, and
// rejects writes from a past term. Other servers ignore it.
//
// Clients created by LeaderElector::FencedClient send this header.
inline constexpr std::string_view kFencingHeader = "coxswain-fencing";

// One term of leadership. A Lease has one holder at a time, and leaseTransitions increases with
// each term unless the Lease is deleted, so holder and leaseTransitions together identify the term.
// The identification is permanent if each process start uses a new identity, as the default
// identities do.
//
// External systems that only the leader may modify (a database, a device) can also receive the
// number and reject numbers smaller than the largest one they have received.
struct FencingToken {
  ObjectKey lease;
  std::string holder;       // spec.holderIdentity
  int32_t transitions = 0;  // spec.leaseTransitions

  // "<namespace>/<lease>;<holder>;<leaseTransitions>", the value of the header.
  std::string ToString() const;
  // Inverse of ToString. The holder may contain semicolons. BadRequest if the text is malformed,
  // contains characters other than visible ASCII, or is longer than kMaxSize.
  static Result<FencingToken> Parse(std::string_view text);
  static constexpr size_t kMaxSize = 1024;

  bool operator==(const FencingToken&) const = default;
};

// Status of a rejected fenced write: the writer is not, or no longer, the leader. Servers return
// 409 Conflict. Fenced clients convert it to Forbidden, because callers retry after a Conflict and
// a retry of this write can never succeed.
Status DeposedStatus(Reason reason, std::string message);
// True for both forms.
bool IsDeposed(const Status& status);

}  // namespace cox

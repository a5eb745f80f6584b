// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coxswain/object_key.h"

namespace cox {

// The header by which a write says in which term of leadership it was made. A Coxswain API server
// compares it with the Lease, when the request comes in and in the transaction that stores the
// object, and refuses what was written in a term that is over. Other servers ignore it.
//
// Clients of LeaderElector::FencedClient send it by themselves.
inline constexpr std::string_view kFencingHeader = "coxswain-fencing";

// One term of leadership. A Lease has one holder at a time, and leaseTransitions grows with each
// term, as long as nobody deletes the Lease: the two together name the term. Identities that are
// not the same in two lives of a process (the default ones are not) name it for ever.
//
// Other systems that only a leader may touch (a database, a device) can be given the number too,
// and refuse smaller ones than they have seen.
struct FencingToken {
  ObjectKey lease;
  std::string holder;       // spec.holderIdentity
  int32_t transitions = 0;  // spec.leaseTransitions

  // "<namespace>/<lease>;<holder>;<leaseTransitions>", the value of the header.
  std::string ToString() const;
  // The way back. The holder may have semicolons in it. BadRequest for what is malformed, has
  // other than visible ASCII characters or is longer than kMaxSize.
  static Result<FencingToken> Parse(std::string_view text);
  static constexpr size_t kMaxSize = 1024;

  bool operator==(const FencingToken&) const = default;
};

// Why a fenced write was refused: its maker does not lead, or not any more. Servers answer it as
// 409 Conflict. Fenced clients give it as Forbidden: a Conflict is what callers try again, and
// this one would end the same way for ever.
Status DeposedStatus(Reason reason, std::string message);
// True of both.
bool IsDeposed(const Status& status);

}  // namespace cox

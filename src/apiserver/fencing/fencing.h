// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/authz/authorizer.h"
#include "apiserver/handlers/call.h"
#include "apiserver/registry/fence.h"
#include "apiserver/registry/registry.h"

namespace cox::apiserver {

// Writes of leaders (docs/adr/0011-fencing.md): a write with the header Coxswain-Fencing
// (coxswain/fencing.h) names the Lease by which its writer leads, his name and the number of his
// term. It happens only if that is what the Lease says when it happens.
//
// Guarantees: after the first write of a later term there is none of an earlier one, where object
//   and Lease are in the same store. The Lease is read from storage, not from a cache.
// Security: who names a Lease must be allowed to get it; otherwise the answers would tell what he
//   may not read. Without the header nothing is different.
// Threads: all methods may be called concurrently; Enter blocks.
// Errors: BadRequest for a malformed header or more than one; Forbidden, as for a get of the Lease;
//   Conflict (IsDeposed) if the term is over.
class Fencing {
 public:
  // Both outlive it, and the fences.
  Fencing(const Registry& registry, const Authorizer& authorizer)
      : registry_(registry), authorizer_(authorizer) {}

  // Whether the call is a write that names a term: one look at its headers.
  static bool Concerns(const Call& call);
  // What the call's writes depend on. It holds now.
  Result<std::shared_ptr<const Fence>> Enter(Call& call) const;

 private:
  const Registry& registry_;
  const Authorizer& authorizer_;
};

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/registry/store/store.h"
#include "apiserver/request/call.h"
#include "storage/store.h"

namespace cox::apiserver {

// Writes of leaders (docs/adr/0011-fencing.md): a write with the header Coxswain-Fencing
// (coxswain/fencing.h) names the Lease by which its writer leads, his name and the number of his
// term. It happens only if that is what the Lease says when it happens.
//
// It takes two: the chain lets such a call enter, which gives its context the term; and what is
// stored with that context passes a FencedStore (fenced_store.h), which asks again.
//
// Security: who names a Lease must be allowed to get it; otherwise the answers would tell what he
//   may not read. Service accounts of the Lease's namespace need not be, and are told no more than
//   that the term is over. Without the header nothing is different.
// Threads: all methods may be called concurrently; Enter and Check block.
// Errors: BadRequest for a malformed header or more than one; Forbidden, as for a get of the Lease;
//   Conflict (IsDeposed) if the term is over.
class Fencing {
 public:
  explicit Fencing(const Authorizer& authorizer) : authorizer_(authorizer) {}
  // The store of the Leases, before the first call. It is set later because it is itself over a
  // FencedStore.
  void set_leases(const ResourceStore& leases) { leases_ = &leases; }

  // Whether the call is a write that names a term: one look at its headers.
  static bool Concerns(const Call& call);
  // OK if the term is not over: from now on the call's context carries it.
  Status Enter(Call& call) const;

  // The term that a context carries; empty: none.
  static std::string_view TermOf(const Context& ctx);
  // Whether `term` lasts, by the Lease as it is in storage (linearizable, not from a cache): then
  // the key that changes before that does.
  Result<storage::Guard> Check(Context& ctx, std::string_view term) const;
  // Where that key is.
  storage::Store& store() const;

 private:
  const Authorizer& authorizer_;
  const ResourceStore* leases_ = nullptr;
};

}  // namespace cox::apiserver

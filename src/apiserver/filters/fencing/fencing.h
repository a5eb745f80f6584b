// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/registry/store/store.h"
#include "apiserver/request/call.h"
#include "coxswain/fencing.h"
#include "storage/store.h"

namespace cox::apiserver {

// Fencing of leaders' writes (docs/adr/0011-fencing.md). The header Coxswain-Fencing
// (coxswain/fencing.h) of a write contains the Lease of the leader election, the holder and the
// number of the leadership term. The write succeeds only if the Lease matches at the time of the
// write.
//
// The filter chain checks the token and adds it to the context of the call; a FencedStore
// (fenced_store.h) checks it again in the storage transaction. Both use the Lease in the watch
// cache, so a write in the current term reads nothing from storage; the transaction decides.
//
// Security: The user must be allowed to get the Lease; otherwise error messages would disclose its
//   contents. Service accounts of the Lease's namespace are exempt, and their errors contain only
//   that the term is over. Requests without the header are not affected.
// Threads: All methods may be called concurrently; Enter and Check block.
// Errors: BadRequest for a malformed or repeated header; Forbidden, as for a get of the Lease;
//   Conflict (IsDeposed) if the term is over.
class Fencing {
 public:
  explicit Fencing(const Authorizer& authorizer) : authorizer_(authorizer) {}
  // Sets the store of the Leases; must be called before the first request. It is not a constructor
  // argument, because that store itself uses a FencedStore.
  void set_leases(const ResourceStore& leases) { leases_ = &leases; }

  // Whether the call is a write with a fencing token: a header lookup.
  static bool Concerns(const Call& call);
  // OK if the term has not ended; then the call's context carries the token.
  Status Enter(Call& call) const;

  // The token that a context carries; empty if there is none.
  static std::string_view TermOf(const Context& ctx);
  enum class LeaseFrom : uint8_t {
    // The watch cache. It may lag behind, so a term that matches may have ended; a Lease that does
    // not match is read from storage before the term is rejected.
    kCache,
    kStorage,  // a linearizable read
  };
  // Checks that `term` has not ended, according to the source. Returns a guard on the Lease's
  // key: a write that is conditional on it fails if the term has ended.
  Result<storage::Guard> Check(Context& ctx, std::string_view term, LeaseFrom source) const;
  // The store of that key.
  storage::Store& store() const;

 private:
  // The guard if the cached Lease matches; nullopt if it does not, or if there is none.
  std::optional<storage::Guard> CachedGuard(const FencingToken& token) const;

  const Authorizer& authorizer_;
  const ResourceStore* leases_ = nullptr;
};

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "apiserver/filters/fencing/fencing.h"
#include "base/mutex.h"
#include "storage/store.h"

namespace cox::apiserver {

// A Store decorator. A write whose context carries a fencing token (Fencing::Enter) succeeds only
// while that leadership term lasts, in one transaction with the Lease. A read that takes the place
// of such a write, because that would change nothing (registry/store/fenced_context.h), succeeds
// only if the Lease in storage has that term. Other operations pass through.
//
// Guarantees: After the first write of a later term there is none of an earlier one, if the object
//   and the Lease are in the same store. Otherwise the Lease is read immediately before the write.
// Threads: As Store.
// Errors: As Store, and Conflict (IsDeposed) for writes with an ended term.
// Ownership: `under` and `fencing` must outlive it.
std::unique_ptr<storage::Store> NewFencedStore(storage::Store& under, const Fencing& fencing);

// Creates one fenced store per underlying store, on demand.
//
// Threads: All methods may be called concurrently.
class FencedStores {
 public:
  explicit FencedStores(const Fencing& fencing) : fencing_(fencing) {}
  storage::Store& Over(storage::Store& under);

 private:
  const Fencing& fencing_;
  Mutex mu_;
  std::map<storage::Store*, std::unique_ptr<storage::Store>> stores_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::apiserver

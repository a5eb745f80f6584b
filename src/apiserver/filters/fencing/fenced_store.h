// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "apiserver/filters/fencing/fencing.h"
#include "base/mutex.h"
#include "storage/store.h"

namespace cox::apiserver {

// A Store over a Store: writes whose context carries a term of leadership (Fencing::Enter) happen
// only while that lasts, in one transaction with the Lease. All else passes.
//
// Guarantees: after the first write of a later term there is none of an earlier one, where object
//   and Lease are kept in the same store. Where they are not, the Lease is read right before.
// Threads, errors: as Store; and Conflict (IsDeposed) of writes that carry a term that is over.
// Ownership: both outlive it.
std::unique_ptr<storage::Store> NewFencedStore(storage::Store& under, const Fencing& fencing);

// One of them for each of several stores, made when it is asked for.
// Threads: all methods may be called concurrently.
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

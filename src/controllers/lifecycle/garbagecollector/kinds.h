// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "coxswain/discovery.h"
#include "coxswain/resource.h"

namespace cox::controllers::gc {

// Of what is served, what owners and dependents can be watched for: preferred versions that can be
// deleted, listed and watched; not Events, of which there are many and which own nothing.
std::vector<Resource> Watchable(const ServedResources& served);

// Which resource a kind is, in any version that is served.
//
// Threads: all methods may be called concurrently.
class Kinds {
 public:
  void Replace(const ServedResources& served);
  // Internal if nobody serves it: whether its objects exist cannot be told, so it is no NotFound.
  Result<Resource> Find(const GroupVersionKind& gvk) const;

 private:
  mutable Mutex mu_;
  std::map<GroupVersionKind, Resource> known_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::controllers::gc

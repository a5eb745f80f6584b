// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "coxswain/discovery.h"
#include "coxswain/resource.h"

namespace cox::controllers::gc {

// Returns the resources that the garbage collector watches: preferred versions with the verbs
// delete, list and watch. Events are excluded, because they are numerous and own nothing.
std::vector<Resource> Watchable(const ServedResources& served);

// Maps kinds to resources, for all served versions.
//
// Threads: all methods may be called concurrently.
class Kinds {
 public:
  void Replace(const ServedResources& served);
  // Returns Internal if the kind is not served. It is not NotFound, because the objects may exist.
  Result<Resource> Find(const GroupVersionKind& gvk) const;

 private:
  mutable Mutex mu_;
  std::map<GroupVersionKind, Resource> known_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::controllers::gc

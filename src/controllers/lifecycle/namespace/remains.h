// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "api/meta/v1.h"
#include "base/clock.h"
#include "base/status.h"
#include "object/type/gvk.h"

namespace cox::controllers {

// The objects that one deletion pass left in a namespace, and the errors.
struct Remains {
  std::vector<std::string> discovery_errors;
  std::vector<std::string> deletion_errors;
  // "pods.", "deployments.apps": the resource, a dot and the group.
  std::map<std::string, int> by_resource;
  std::map<std::string, int> by_finalizer;
  // Estimated seconds until the objects are gone: the longest grace period, or a fixed time for
  // objects with finalizers.
  int64_t estimate = 0;

  bool empty() const {
    return discovery_errors.empty() && deletion_errors.empty() && by_resource.empty();
  }
  // The errors joined into one; OK if there are none.
  Status status() const;
  // Requeue delay for content that only needs time.
  Clock::Duration RequeueAfter() const;
};

// The objects of one resource that a list returned after their deletion was requested.
struct LeftOfResource {
  int items = 0;
  std::map<std::string, int> by_finalizer;
  int64_t longest_grace = 0;  // Pods only
};
// Adds `left` to `remains`. Objects without grace period or finalizers should be gone: an error.
void CountIn(const GroupVersionResource& resource, const std::string& ns,
             const LeftOfResource& left, Remains& remains);

// The remaining grace period of a Pod in seconds; 0 for a terminal Pod.
int64_t GraceOf(const core::v1::Pod& pod);

// Sets the five conditions of a namespace that is being deleted. Returns true if any changed.
bool SetDeletionConditions(const Remains& remains, const Time& now,
                           core::v1::NamespaceStatus& status);

}  // namespace cox::controllers

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

// What one pass over the content of a namespace left there, and why.
struct Remains {
  std::vector<std::string> discovery_errors;
  std::vector<std::string> deletion_errors;
  // "pods.", "deployments.apps": the resource, a dot and the group.
  std::map<std::string, int> by_resource;
  std::map<std::string, int> by_finalizer;
  // When to look again, in seconds: the longest grace period, or what finalizers are given.
  int64_t estimate = 0;

  bool empty() const {
    return discovery_errors.empty() && deletion_errors.empty() && by_resource.empty();
  }
  // What failed, as one error; OK if nothing did.
  Status status() const;
  // How long to wait for what only takes its time.
  Clock::Duration LookAgainAfter() const;
};

// What a list of one resource says after its objects were asked to go.
struct LeftOfResource {
  int items = 0;
  std::map<std::string, int> by_finalizer;
  int64_t longest_grace = 0;  // of Pods
};
// Counts them in. Objects that nothing keeps should be gone: an error.
void CountIn(const GroupVersionResource& resource, const std::string& ns,
             const LeftOfResource& left, Remains& remains);

// How long a Pod may still need, in seconds; none for one that has ended.
int64_t GraceOf(const core::v1::Pod& pod);

// Sets the five conditions of a namespace that is being deleted. True if that changed anything.
bool SetDeletionConditions(const Remains& remains, const Time& now,
                           core::v1::NamespaceStatus& status);

}  // namespace cox::controllers

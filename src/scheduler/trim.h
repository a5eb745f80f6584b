// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/core/v1.h"
#include "coxswain/cache.h"

namespace cox::scheduler {

// Removes the fields of a Pod that no plugin reads: most of its containers' specs and statuses.
void Trim(core::v1::Pod& pod);
// Returns a trimmed copy.
std::shared_ptr<const core::v1::Pod> Trimmed(const std::shared_ptr<const core::v1::Pod>& pod);

// The options of the scheduler's cache. It contains no terminal Pods. The other Pods are trimmed,
// unless the cache shares them with the API server in its process.
CacheOptions TrimmedCache();

}  // namespace cox::scheduler

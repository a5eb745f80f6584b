// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/core/v1.h"
#include "coxswain/cache.h"

namespace cox::scheduler {

// Removes the fields of a Pod that no plugin reads: most of its containers' specs and statuses.
void Trim(core::v1::Pod& pod);
// A trimmed copy.
std::shared_ptr<const core::v1::Pod> Trimmed(const std::shared_ptr<const core::v1::Pod>& pod);

// Options of a cache for the scheduler: Pods without terminal ones. They are trimmed unless they
// are shared with the API server's cache.
CacheOptions TrimmedCache();

}  // namespace cox::scheduler

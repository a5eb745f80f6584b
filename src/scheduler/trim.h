// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "coxswain/cache.h"

namespace cox::scheduler {

// Removes the fields of a Pod that no plugin reads: most of its containers' specs and statuses.
void Trim(core::v1::Pod& pod);

// Options of a cache for the scheduler: trimmed Pods, without terminal ones.
CacheOptions TrimmedCache();

}  // namespace cox::scheduler

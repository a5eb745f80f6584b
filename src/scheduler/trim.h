// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "coxswain/cache.h"

namespace cox::scheduler {

// Forgets what of a Pod no plugin reads: how its containers are started, what they are doing.
void Trim(core::v1::Pod& pod);

// For a cache of the scheduler's own: trimmed Pods, and none that have ended.
CacheOptions TrimmedCache();

}  // namespace cox::scheduler

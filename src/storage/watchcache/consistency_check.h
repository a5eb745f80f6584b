// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/context.h"
#include "base/result.h"
#include "storage/store.h"
#include "storage/watchcache/snapshot.h"

namespace cox::storage {

// Compares the keys and revisions in `snapshot` with those of the store under `prefix` at the
// snapshot's revision. Returns an empty string if they are equal, otherwise a description of the
// first difference.
//
// This is the only check that detects an event which the watch has skipped silently.
//
// Errors: the store's. Expired: the store has compacted that revision.
Result<std::string> FindDifference(Context& ctx, Store& store, const std::string& prefix,
                                   const Snapshot& snapshot);

}  // namespace cox::storage

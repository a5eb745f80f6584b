// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/context.h"
#include "base/result.h"
#include "storage/store.h"
#include "storage/watchcache/snapshot.h"

namespace cox::storage {

// Whether `snapshot` holds the keys, with the revisions, that the store had under `prefix` at the
// snapshot's revision. Empty if so; else the first difference, for people.
//
// A watch that leaves out an event without a trace is found by nothing else.
//
// Errors: the store's. Expired: it no longer knows that revision.
Result<std::string> FindDifference(Context& ctx, Store& store, const std::string& prefix,
                                   const Snapshot& snapshot);

}  // namespace cox::storage

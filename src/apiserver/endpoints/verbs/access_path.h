// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "apiserver/endpoints/verbs/options.h"
#include "apiserver/registry/served/registry.h"
#include "storage/watchcache/watch_cache.h"

namespace cox::apiserver {

// How the objects of a list or watch are found at the cost of the smallest set that contains them:
// by one key, by the value of the kind's indexed field, or by a prefix of the keys. The selectors
// still have to be evaluated for each of them.
struct AccessPath {
  std::string prefix;  // of the keys; the key itself if `one_key`
  bool one_key = false;
  std::string field_value;  // of the indexed field; empty: the index is not used

  // The changes that can concern the selected objects.
  storage::WatchOptions ToWatchOptions(storage::Revision after) const;
};

// `ns` is the namespace in the request's path, if any.
AccessPath AccessPathOf(const ServedResource& resource, std::string_view ns,
                        const ReadOptions& options);

// The objects of the current state on an access path, by key. REQUIRES: not kExact.
Result<storage::Selection> ReadCurrent(Context& ctx, storage::WatchCache& cache,
                                       const AccessPath& path, const storage::Freshness& freshness);

}  // namespace cox::apiserver

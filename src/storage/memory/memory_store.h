// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "base/clock.h"
#include "storage/store.h"

namespace cox::storage {

// What a memory store takes and remembers. The defaults are those of etcd where etcd has the limit.
struct MemoryOptions {
  // A larger value is TooLarge: etcd's limit of a request.
  size_t max_value_bytes = 1536 * 1024;
  // How much of the past is kept when nobody calls Compact: at most so many changes, and so many
  // bytes of values that have been overwritten or deleted. The oldest go first, as by Compact.
  size_t max_history_changes = 50'000;
  size_t max_history_bytes = 64u << 20;
};

// A Store in the memory of this process: for tests and for clusters that may forget everything.
//
// It behaves as the etcd store does, and passes the same contract suite: the first revision is 1,
// the past can be read and watched until it is compacted, keys written with a ttl that ends in the
// same second go away together in one revision.
//
// Threads: as Store. A write wakes only the watches whose prefix it is under.
// Ownership: `clock` outlives the store. Watches may outlive the store; they end as Unavailable.
std::unique_ptr<Store> NewMemoryStore(Clock& clock, const MemoryOptions& options = {});

}  // namespace cox::storage

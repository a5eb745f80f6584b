// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "base/clock.h"
#include "storage/store.h"

namespace cox::storage {

// Limits of a memory store. The defaults are those of etcd where etcd has such a limit.
struct MemoryOptions {
  // Larger values are rejected as TooLarge. etcd's limit of a request.
  size_t max_value_bytes = 1536 * 1024;
  // Limits of the history without calls of Compact: the number of changes, and the bytes of values
  // that were overwritten or deleted. The oldest changes are compacted first.
  size_t max_history_changes = 50'000;
  size_t max_history_bytes = 64u << 20;
};

// An in-memory Store, for tests and for clusters without persistence.
//
// It behaves like the etcd store and passes the same contract suite: the first revision is 1,
// history can be read and watched until it is compacted, keys whose TTL ends in the same second
// expire together in one revision.
//
// Threads: as Store. A write wakes only the watches whose prefix matches its key.
// Ownership: `clock` outlives the store. Watches may outlive the store; they end as Unavailable.
std::unique_ptr<Store> NewMemoryStore(Clock& clock, const MemoryOptions& options = {});

}  // namespace cox::storage

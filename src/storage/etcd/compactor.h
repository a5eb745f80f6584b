// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "base/context.h"
#include "base/scope.h"
#include "storage/etcd/etcd_store.h"

namespace cox::storage {

// Compacts etcd periodically: once per interval it discards the history before the previous round.
// Between one and two intervals of history can be read and watched.
//
// API servers that share an etcd coordinate, including upstream's: the server that updates the key
// "compact_rev_key" from the version it last saw wins the round. The value of the key is the
// revision of that moment, to which the next winner compacts. A server that loses reads the new
// version and retries after an interval. The first round after a start never compacts.
//
// Threads: runs on its own thread until it is destroyed or `ctx` stops.
// Ownership: `store` outlives it.
class Compactor {
 public:
  Compactor(const Context& ctx, EtcdStore& store, std::chrono::seconds interval);
  ~Compactor();

 private:
  void Run(Context& ctx);

  EtcdStore& store_;
  const std::chrono::seconds interval_;
  Scope scope_;
};

// The default of --etcd-compaction-interval. StartCompactor returns null if the interval is 0.
inline constexpr std::chrono::minutes kCompactionInterval{5};
std::unique_ptr<Compactor> StartCompactor(const Context& ctx, EtcdStore& store,
                                          std::chrono::seconds interval = kCompactionInterval);

// The compaction protocol of one server, one round at a time. Used by Compactor and its tests.
class CompactionRound {
 public:
  enum class Outcome : uint8_t { kLate, kNoted, kCompacted };
  // Errors: the store's. The next round continues with the same state.
  Result<Outcome> Try(Context& ctx, EtcdStore& store);

 private:
  int64_t version_ = 0;    // of the key, as last seen
  Revision revision_ = 0;  // of the store at the last round; 0: no round yet
};

}  // namespace cox::storage

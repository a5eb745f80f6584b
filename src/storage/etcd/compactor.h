// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "base/context.h"
#include "base/scope.h"
#include "storage/etcd/etcd_store.h"

namespace cox::storage {

// Keeps etcd from remembering everything: once per interval it is told to forget what happened
// before the previous round. So between one and two intervals of the past can be read and watched.
//
// API servers that share an etcd share the work, ours and upstream's alike: a round is won by
// whoever moves the key "compact_rev_key" from the version he saw last to the next; its value is
// the revision of that moment, which the next winner compacts to. A server that was too late learns
// the version and tries again an interval later. The first round after a start never compacts.
//
// Threads: works on one of its own, until destroyed or `ctx` stops.
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

// The default of --etcd-compaction-interval. 0 switches it off: null.
inline constexpr std::chrono::minutes kCompactionInterval{5};
std::unique_ptr<Compactor> StartCompactor(const Context& ctx, EtcdStore& store,
                                          std::chrono::seconds interval = kCompactionInterval);

// One server's part of the agreement, a round at a time. For the loop above and its tests.
class CompactionRound {
 public:
  // What happened.
  enum class Outcome : uint8_t { kLate, kNoted, kCompacted };
  // Errors are the store's; the next round goes on from the same place.
  Result<Outcome> Try(Context& ctx, EtcdStore& store);

 private:
  int64_t version_ = 0;    // of the key, as seen last
  Revision revision_ = 0;  // of the store, as of the last round; 0: there was none
};

}  // namespace cox::storage

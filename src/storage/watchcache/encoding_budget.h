// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "base/bytes.h"
#include "base/mutex.h"

namespace cox::storage {

class Entry;

// How many bytes the encodings of cached objects may take together, and which are dropped when that
// is not enough. One for a whole server.
//
// An encoding goes with its entry. When the budget is full, those not asked for since the clock's
// hand last passed go first; a new one stands right before the hand until it is asked for again.
// So a list larger than the budget does not sweep out what is used often, and of such a list the
// part that fits stays.
//
// Guarantees: bytes() does not stay above limit(). Bytes handed out live as long as their holders.
// Threads: all methods may be called concurrently. Entries are spread over shards, each with a lock
//   that is held for a few instructions.
// Ownership: entries share it; it outlives them.
class EncodingBudget {
 public:
  static constexpr size_t kDefaultLimit = 32u << 20;

  explicit EncodingBudget(size_t limit = kDefaultLimit) : limit_(limit) {}
  EncodingBudget(const EncodingBudget&) = delete;
  EncodingBudget& operator=(const EncodingBudget&) = delete;

  size_t limit() const { return limit_; }
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // One encoding of one entry.
  struct Kept {
    const Entry* entry;
    Kept* next = nullptr;  // of the same entry
    Bytes bytes;
    uint8_t slot;
    bool asked = false;  // since the hand passed
    std::list<Kept>::iterator self;
  };

 private:
  friend class Entry;
  static constexpr size_t kShards = 16;

  // A clock of its own; past the last the hand goes on with the first.
  struct Shard {
    Mutex mu;
    std::list<Kept> clock COX_GUARDED_BY(mu);
    std::list<Kept>::iterator hand COX_GUARDED_BY(mu) = clock.end();
  };

  Shard& ShardOf(const Entry& entry);
  std::optional<Bytes> Find(const Entry& entry, uint8_t slot);
  // What is kept under `slot` afterwards: somebody may have been faster.
  Bytes Keep(const Entry& entry, uint8_t slot, Bytes bytes);
  // The entry goes away.
  void Forget(const Entry& entry);

  // Until `wanted` bytes fit, beginning with the shard that is to grow.
  void MakeRoom(size_t first_shard, size_t wanted);
  // False if the shard is empty.
  bool EvictOne(Shard& shard) COX_REQUIRES(shard.mu);
  void Remove(Shard& shard, Kept& kept) COX_REQUIRES(shard.mu);

  const size_t limit_;
  std::atomic<size_t> bytes_ = 0;
  std::array<Shard, kShards> shards_;
};

}  // namespace cox::storage

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

// The memory limit for the encodings of cached objects, with the eviction policy. One per server.
//
// An encoding is freed with its entry. When the budget is full, the CLOCK algorithm evicts
// encodings that were not used since the hand last passed them. A new encoding is inserted right
// before the hand, until it is used again. So a list larger than the budget does not evict
// frequently used encodings, and the part of the list that fits stays cached.
//
// Guarantees: bytes() does not stay above limit(). Returned Bytes stay valid after eviction.
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
    bool recently_used = false;  // used since the hand last passed
    std::list<Kept>::iterator self;
  };

 private:
  friend class Entry;
  static constexpr size_t kShards = 16;

  // Each shard has its own clock; after the last element the hand continues with the first.
  struct Shard {
    Mutex mu;
    std::list<Kept> clock COX_GUARDED_BY(mu);
    std::list<Kept>::iterator hand COX_GUARDED_BY(mu) = clock.end();
  };

  Shard& ShardOf(const Entry& entry);
  std::optional<Bytes> Find(const Entry& entry, uint8_t slot);
  // Returns the bytes kept under `slot`, which may be those of another thread that was faster.
  Bytes Keep(const Entry& entry, uint8_t slot, Bytes bytes);
  // Removes all encodings of an entry that is being destroyed.
  void Forget(const Entry& entry);

  // Evicts until `wanted` bytes fit, beginning with the given shard.
  void MakeRoom(size_t first_shard, size_t wanted);
  // False if the shard is empty.
  bool EvictOne(Shard& shard) COX_REQUIRES(shard.mu);
  void Remove(Shard& shard, Kept& kept) COX_REQUIRES(shard.mu);

  const size_t limit_;
  std::atomic<size_t> bytes_ = 0;
  std::array<Shard, kShards> shards_;
};

}  // namespace cox::storage

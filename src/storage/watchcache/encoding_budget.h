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
#include "object/object.h"

namespace cox::storage {

class Entry;

// The memory limit for the other forms of cached objects (encodings and decoded objects), with the
// eviction policy. One per server.
//
// A form is freed with its entry. When the budget is full, the CLOCK algorithm evicts forms that
// were not used since the hand last passed them. A new form is inserted right before the hand,
// until it is used again. So a list larger than the budget does not evict frequently used forms,
// and the part of the list that fits stays cached.
//
// Guarantees: bytes() does not stay above limit(). Returned forms stay valid after eviction.
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

  // An encoding or a decoded object.
  struct Form {
    Bytes bytes;
    ObjectPtr object;
  };
  // One form of one entry.
  struct Kept {
    const Entry* entry;
    Kept* next = nullptr;  // of the same entry
    Form form;
    size_t cost;  // bytes of memory
    uint8_t slot;
    bool recently_used = false;  // used since the hand last passed
    std::list<Kept>::iterator self;
  };

 private:
  friend class Entry;
  static constexpr size_t kShards = 16;
  // Forms that have been removed and are freed without a lock.
  using Removed = std::list<Kept>;

  // Each shard has its own clock; after the last element the hand continues with the first.
  struct Shard {
    Mutex mu;
    std::list<Kept> clock COX_GUARDED_BY(mu);
    std::list<Kept>::iterator hand COX_GUARDED_BY(mu) = clock.end();
  };

  Shard& ShardOf(const Entry& entry);
  std::optional<Form> Find(const Entry& entry, uint8_t slot);
  // Keeps a form of `size` bytes. Returns the form kept in `slot`, which may be that of another
  // thread that was faster.
  Form Keep(const Entry& entry, uint8_t slot, Form form, size_t size);
  // Removes all forms of an entry that is being destroyed.
  void Forget(const Entry& entry);

  // Evicts until `wanted` bytes fit, beginning with the given shard.
  void MakeRoom(size_t first_shard, size_t wanted);
  // False if the shard is empty.
  bool EvictOne(Shard& shard, Removed& removed) COX_REQUIRES(shard.mu);
  void Remove(Shard& shard, Kept& kept, Removed& removed) COX_REQUIRES(shard.mu);

  const size_t limit_;
  std::atomic<size_t> bytes_ = 0;
  std::array<Shard, kShards> shards_;
};

}  // namespace cox::storage

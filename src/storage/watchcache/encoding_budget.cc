// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/encoding_budget.h"

#include <utility>

#include "storage/watchcache/entry.h"

namespace cox::storage {
namespace {

// Memory of an encoding in addition to its bytes: the list node and the shared buffer's header.
constexpr size_t kOverhead = sizeof(EncodingBudget::Kept) + 48;

size_t CostOf(const Bytes& bytes) { return bytes.size() + kOverhead; }

}  // namespace

EncodingBudget::Shard& EncodingBudget::ShardOf(const Entry& entry) {
  // Entries are some hundred bytes apart, so mix the bits of their addresses.
  const auto mixed = (reinterpret_cast<uintptr_t>(&entry) >> 4) * 0x9e3779b97f4a7c15u;
  return shards_[(mixed >> 48) % kShards];
}

std::optional<Bytes> EncodingBudget::Find(const Entry& entry, uint8_t slot) {
  if (entry.encodings_.load(std::memory_order_relaxed) == nullptr) return std::nullopt;
  Shard& shard = ShardOf(entry);
  MutexLock lock(shard.mu);
  for (Kept* kept = entry.encodings_.load(std::memory_order_relaxed); kept != nullptr;
       kept = kept->next) {
    if (kept->slot == slot) {
      kept->recently_used = true;
      return kept->bytes;
    }
  }
  return std::nullopt;
}

Bytes EncodingBudget::Keep(const Entry& entry, uint8_t slot, Bytes bytes) {
  const size_t cost = CostOf(bytes);
  // Do not cache a large encoding: it would evict many others.
  if (cost > limit_ / 8) return bytes;
  Shard& shard = ShardOf(entry);
  const auto index = static_cast<size_t>(&shard - shards_.data());
  MakeRoom(index, cost);
  {
    MutexLock lock(shard.mu);
    Kept* const first = entry.encodings_.load(std::memory_order_relaxed);
    for (Kept* kept = first; kept != nullptr; kept = kept->next) {
      if (kept->slot == slot) return kept->bytes;
    }
    const auto at = shard.clock.insert(shard.hand, Kept{&entry, first, bytes, slot, false, {}});
    at->self = at;
    shard.hand = at;
    entry.encodings_.store(&*at, std::memory_order_relaxed);
    bytes_.fetch_add(cost, std::memory_order_relaxed);
  }
  // Concurrent calls may have used the same room. Evict from another shard than the one just grown.
  MakeRoom(index + 1, 0);
  return bytes;
}

void EncodingBudget::Forget(const Entry& entry) {
  if (entry.encodings_.load(std::memory_order_relaxed) == nullptr) return;
  Shard& shard = ShardOf(entry);
  MutexLock lock(shard.mu);
  while (Kept* kept = entry.encodings_.load(std::memory_order_relaxed)) Remove(shard, *kept);
}

void EncodingBudget::MakeRoom(size_t first_shard, size_t wanted) {
  // The shards have about the same size; if one becomes empty, continue with the next.
  for (size_t i = 0; i < kShards && bytes() + wanted > limit_; ++i) {
    Shard& shard = shards_[(first_shard + i) % kShards];
    MutexLock lock(shard.mu);
    while (bytes() + wanted > limit_ && EvictOne(shard)) {
    }
  }
}

bool EncodingBudget::EvictOne(Shard& shard) {
  if (shard.clock.empty()) return false;
  for (;;) {
    if (shard.hand == shard.clock.end()) shard.hand = shard.clock.begin();
    if (!shard.hand->recently_used) break;
    shard.hand->recently_used = false;
    ++shard.hand;
  }
  Remove(shard, *shard.hand);
  return true;
}

void EncodingBudget::Remove(Shard& shard, Kept& kept) {
  const Entry& entry = *kept.entry;
  if (Kept* before = entry.encodings_.load(std::memory_order_relaxed); before == &kept) {
    entry.encodings_.store(kept.next, std::memory_order_relaxed);
  } else {
    while (before->next != &kept) before = before->next;
    before->next = kept.next;
  }
  bytes_.fetch_sub(CostOf(kept.bytes), std::memory_order_relaxed);
  const auto self = kept.self;
  const auto next = shard.clock.erase(self);
  if (shard.hand == self) shard.hand = next;
}

}  // namespace cox::storage

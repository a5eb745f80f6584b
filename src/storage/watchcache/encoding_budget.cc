// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/encoding_budget.h"

#include <utility>

#include "storage/watchcache/entry.h"

namespace cox::storage {
namespace {

// Memory of a form in addition to its data: the list node and the header of shared memory.
constexpr size_t kOverhead = sizeof(EncodingBudget::Kept) + 48;

}  // namespace

EncodingBudget::Shard& EncodingBudget::ShardOf(const Entry& entry) {
  // Entries are some hundred bytes apart, so mix the bits of their addresses.
  const auto mixed = (reinterpret_cast<uintptr_t>(&entry) >> 4) * 0x9e3779b97f4a7c15u;
  return shards_[(mixed >> 48) % kShards];
}

std::optional<EncodingBudget::Form> EncodingBudget::Find(const Entry& entry, uint8_t slot) {
  if (entry.kept_.load(std::memory_order_relaxed) == nullptr) return std::nullopt;
  Shard& shard = ShardOf(entry);
  MutexLock lock(shard.mu);
  for (Kept* kept = entry.kept_.load(std::memory_order_relaxed); kept != nullptr;
       kept = kept->next) {
    if (kept->slot == slot) {
      kept->recently_used = true;
      return kept->form;
    }
  }
  return std::nullopt;
}

EncodingBudget::Form EncodingBudget::Keep(const Entry& entry, uint8_t slot, Form form,
                                          size_t size) {
  const size_t cost = size + kOverhead;
  // Do not keep a large form: it would evict many others.
  if (cost > limit_ / 8) return form;
  Shard& shard = ShardOf(entry);
  const auto index = static_cast<size_t>(&shard - shards_.data());
  MakeRoom(index, cost);
  {
    MutexLock lock(shard.mu);
    Kept* const first = entry.kept_.load(std::memory_order_relaxed);
    for (Kept* kept = first; kept != nullptr; kept = kept->next) {
      if (kept->slot == slot) return kept->form;
    }
    const auto at =
        shard.clock.insert(shard.hand, Kept{&entry, first, form, cost, slot, false, {}});
    at->self = at;
    shard.hand = at;
    entry.kept_.store(&*at, std::memory_order_relaxed);
    bytes_.fetch_add(cost, std::memory_order_relaxed);
  }
  // Concurrent calls may have used the same room. Evict from another shard than the one just grown.
  MakeRoom(index + 1, 0);
  return form;
}

void EncodingBudget::Forget(const Entry& entry) {
  if (entry.kept_.load(std::memory_order_relaxed) == nullptr) return;
  Shard& shard = ShardOf(entry);
  Removed removed;
  MutexLock lock(shard.mu);
  while (Kept* kept = entry.kept_.load(std::memory_order_relaxed)) Remove(shard, *kept, removed);
}

void EncodingBudget::MakeRoom(size_t first_shard, size_t wanted) {
  // The shards have about the same size; if one becomes empty, continue with the next.
  for (size_t i = 0; i < kShards && bytes() + wanted > limit_; ++i) {
    Shard& shard = shards_[(first_shard + i) % kShards];
    Removed removed;
    MutexLock lock(shard.mu);
    while (bytes() + wanted > limit_ && EvictOne(shard, removed)) {
    }
  }
}

bool EncodingBudget::EvictOne(Shard& shard, Removed& removed) {
  if (shard.clock.empty()) return false;
  for (;;) {
    if (shard.hand == shard.clock.end()) shard.hand = shard.clock.begin();
    if (!shard.hand->recently_used) break;
    shard.hand->recently_used = false;
    ++shard.hand;
  }
  Remove(shard, *shard.hand, removed);
  return true;
}

void EncodingBudget::Remove(Shard& shard, Kept& kept, Removed& removed) {
  const Entry& entry = *kept.entry;
  if (Kept* before = entry.kept_.load(std::memory_order_relaxed); before == &kept) {
    entry.kept_.store(kept.next, std::memory_order_relaxed);
  } else {
    while (before->next != &kept) before = before->next;
    before->next = kept.next;
  }
  bytes_.fetch_sub(kept.cost, std::memory_order_relaxed);
  const auto self = kept.self;
  if (shard.hand == self) ++shard.hand;
  removed.splice(removed.end(), shard.clock, self);
}

}  // namespace cox::storage

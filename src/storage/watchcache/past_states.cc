// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/past_states.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace cox::storage {
namespace {

// The narrowest leaf of a KeyTree.
constexpr size_t kObjectsPerLeaf = 8;

// The largest number of leaves of a tree.
size_t MaxLeaves(const Snapshot& snapshot) { return snapshot.size() / kObjectsPerLeaf + 1; }

void Undo(const Change& change, KeyTree& tree) {
  if (change.previous == nullptr) {
    tree.Erase(change.entry->key());
  } else {
    tree.Put(change.previous);
  }
}

void Redo(const Change& change, KeyTree& tree) {
  if (change.type == ChangeType::kDeleted) {
    tree.Erase(change.entry->key());
  } else {
    tree.Put(change.entry);
  }
}

}  // namespace

SnapshotPtr PastStates::At(Revision revision, const SnapshotPtr& now) {
  if (revision == now->revision()) return now;
  if (SnapshotPtr known = Find(revision, *now)) return known;
  MutexLock building(build_mu_);
  // Another thread may have built it meanwhile.
  if (SnapshotPtr known = Find(revision, *now)) return known;
  const std::optional<State> state = Build(revision, now);
  if (!state) return nullptr;
  Keep(*state);
  return state->snapshot;
}

SnapshotPtr PastStates::Find(Revision revision, const Snapshot& now) {
  States ended;  // freed after unlocking
  MutexLock lock(mu_);
  if (generation_ < now.generation()) {
    ended.swap(states_);
    leaves_ = 0;
    generation_ = now.generation();
  }
  const auto at = states_.find(revision);
  if (at == states_.end() || generation_ != now.generation()) return nullptr;
  at->second.used = ++uses_;
  return at->second.snapshot;
}

PastStates::Neighbors PastStates::NeighborsOf(Revision revision, const SnapshotPtr& now) const {
  Neighbors neighbors{nullptr, now};
  MutexLock lock(mu_);
  if (generation_ != now->generation()) return neighbors;
  const auto after = states_.upper_bound(revision);
  if (after != states_.end() && after->first < now->revision()) {
    neighbors.after = after->second.snapshot;
  }
  if (after != states_.begin()) neighbors.before = std::prev(after)->second.snapshot;
  return neighbors;
}

std::optional<PastStates::State> PastStates::Build(Revision revision, const SnapshotPtr& now) {
  auto [before, after] = NeighborsOf(revision, now);
  std::optional<std::vector<ChangePtr>> changes;
  if (before != nullptr) changes = log_.Since(before->revision());
  if (!changes) {
    before = nullptr;
    changes = log_.Since(revision);
  }
  if (!changes) return std::nullopt;
  const auto is_later = [](Revision than, const ChangePtr& change) {
    return than < change->revision;
  };
  const auto split = std::upper_bound(changes->begin(), changes->end(), revision, is_later);
  const auto end = std::upper_bound(split, changes->end(), after->revision(), is_later);
  const bool redo = before != nullptr && split - changes->begin() < end - split;
  const SnapshotPtr& base = redo ? before : after;
  KeyTree tree = base->tree().Fork();
  if (redo) {
    std::for_each(changes->begin(), split, [&](const ChangePtr& c) { Redo(*c, tree); });
  } else {
    std::for_each(std::make_reverse_iterator(end), std::make_reverse_iterator(split),
                  [&](const ChangePtr& c) { Undo(*c, tree); });
  }
  const auto count = static_cast<size_t>(redo ? split - changes->begin() : end - split);
  State state;
  state.snapshot = std::make_shared<const Snapshot>(std::move(tree), revision, base->generation());
  state.leaves = std::min(count, MaxLeaves(*state.snapshot));
  state.base = base == now ? 0 : base->revision();
  MutexLock lock(mu_);
  applied_ += count;
  return state;
}

void PastStates::Keep(const State& state) {
  Dropped dropped;
  MutexLock lock(mu_);
  if (generation_ != state.snapshot->generation()) return;
  const auto [at, added] = states_.emplace(state.snapshot->revision(), state);
  if (!added) return;
  at->second.used = ++uses_;
  leaves_ += state.leaves;
  while (states_.size() > 1 && (states_.size() > limits_.states || leaves_ > limits_.leaves)) {
    const auto oldest = std::min_element(
        states_.begin(), states_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    Drop(oldest, dropped);
  }
}

void PastStates::Drop(States::iterator victim, Dropped& dropped) {
  const Revision revision = victim->first;
  State gone = std::move(victim->second);
  states_.erase(victim);
  leaves_ -= gone.leaves;
  // The states that were built from it keep its nodes.
  for (auto& [unused, state] : states_) {
    if (state.base != revision) continue;
    const size_t leaves = std::min(state.leaves + gone.leaves, MaxLeaves(*state.snapshot));
    leaves_ += leaves - state.leaves;
    state.leaves = leaves;
    state.base = gone.base;
  }
  dropped.push_back(std::move(gone.snapshot));
}

void PastStates::DropOld() {
  Dropped dropped;
  {
    MutexLock lock(mu_);
    if (states_.empty()) return;
  }
  const Revision oldest = log_.oldest();
  MutexLock lock(mu_);
  while (!states_.empty() && states_.begin()->first < oldest) Drop(states_.begin(), dropped);
}

size_t PastStates::size() const {
  MutexLock lock(mu_);
  return states_.size();
}

uint64_t PastStates::applied() const {
  MutexLock lock(mu_);
  return applied_;
}

}  // namespace cox::storage

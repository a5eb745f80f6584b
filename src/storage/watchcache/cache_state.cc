// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/cache_state.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/strings.h"

namespace cox::storage {
namespace {

ChangePtr MakeChange(ChangeType type, EntryPtr entry, EntryPtr previous) {
  const Revision revision = entry->revision();
  return std::make_shared<const Change>(
      Change{type, std::move(entry), std::move(previous), revision});
}

std::vector<EntryPtr> Entries(const KeyTree& tree) {
  std::vector<EntryPtr> entries;
  entries.reserve(tree.size());
  tree.Visit({}, {}, [&](const EntryPtr& entry) {
    entries.push_back(entry);
    return true;
  });
  return entries;
}

// Computes the changes from `known` to `entries`, the store at `revision`. Returns false if they
// cannot be delivered to watchers in order of revision.
bool Compare(const Snapshot& known, const std::vector<EntryPtr>& entries, Revision revision,
             std::vector<ChangePtr>& changes) {
  const Revision before = known.revision();
  if (revision < before) return false;  // the store has lost its latest writes
  const std::vector<EntryPtr> old = Entries(known.tree());
  std::unordered_set<Revision> taken;
  std::vector<EntryPtr> deleted;
  const auto put = [&](const EntryPtr& entry, EntryPtr previous) {
    const ChangeType type = previous == nullptr ? ChangeType::kAdded : ChangeType::kModified;
    taken.insert(entry->revision());
    changes.push_back(MakeChange(type, entry, std::move(previous)));
  };
  auto was = old.begin();
  for (const EntryPtr& entry : entries) {
    for (; was != old.end() && (*was)->key() < entry->key(); ++was) deleted.push_back(*was);
    const bool existed = was != old.end() && (*was)->key() == entry->key();
    if (!existed || *was != entry) {
      if (entry->revision() <= before) return false;  // the watch should have delivered it
      put(entry, existed ? *was : nullptr);
    }
    if (existed) ++was;
  }
  deleted.insert(deleted.end(), was, old.end());
  // The exact revisions of the deletions are unknown, only the range. Each deletion gets its own
  // unused revision, so that a watcher that resumes between two of them is rejected as too old.
  Revision unused = revision;
  for (auto entry = deleted.rbegin(); entry != deleted.rend(); ++entry, --unused) {
    while (taken.contains(unused)) --unused;
    if (unused <= before) return false;
    changes.push_back(
        MakeChange(ChangeType::kDeleted, Entry::CreateDeleted(*entry, unused), *entry));
  }
  std::stable_sort(changes.begin(), changes.end(), [](const ChangePtr& a, const ChangePtr& b) {
    return a->revision < b->revision;
  });
  return true;
}

size_t SizeOf(const EntryPtr& entry) { return entry == nullptr ? 0 : entry->stored().size(); }

}  // namespace

CacheState::CacheState(Clock& clock, std::string prefix, size_t capacity, size_t max_capacity,
                       const HeadReader& head_reader, std::shared_ptr<EncodingBudget> encodings)
    : type_(std::make_shared<const EntryClass>(
          EntryClass{.field_names = head_reader.field_names(),
                     .encodings = std::move(encodings),
                     .indexed_field = head_reader.indexed_field(),
                     .namespaced = head_reader.namespaced(),
                     .decode = head_reader.decoder()})),
      head_reader_(head_reader),
      log_(std::make_shared<ChangeLog>(clock, std::move(prefix), capacity, max_capacity)),
      head_(type_->field_names.size()) {}

EntryPtr CacheState::MakeEntry(const KeyValue& kv) {
  head_reader_.Read(kv.key, kv.value.view(), head_);
  return Entry::Create(type_, kv.key, kv.value.view(), head_.Finish(), kv.revision);
}

SnapshotPtr CacheState::Current() const {
  if (!ready()) return nullptr;
  if (SnapshotPtr snapshot = published_.Load()) return snapshot;
  MutexLock lock(mu_);
  SnapshotPtr snapshot = published_.Load();
  if (snapshot == nullptr) {
    snapshot = std::make_shared<const Snapshot>(tree_.Share(), revision(), generation_.load());
    published_.Exchange(snapshot);
  }
  return snapshot;
}

Selection CacheState::FindByField(std::string_view value) const {
  MutexLock lock(mu_);
  return {by_field_.Find(value), revision()};
}

SnapshotPtr CacheState::At(Revision revision) {
  const SnapshotPtr now = Current();
  if (now == nullptr || revision > now->revision()) return nullptr;
  SnapshotPtr past = past_.At(revision, now);
  // If the log was restarted meanwhile, its changes may not lead to `now`.
  return generation_.load() == now->generation() ? past : nullptr;
}

bool CacheState::Await(const Context& ctx, Revision revision, Clock::SteadyTime deadline) {
  const auto there = [&] { return ready() && this->revision() >= revision; };
  if (there()) return true;
  MutexLock lock(mu_);
  (void)advanced_.WaitUntil(mu_, ctx.clock(), deadline, ctx.token(),
                            [&] { return there() || ended(); });
  return there();
}

void CacheState::End() {
  {
    MutexLock lock(mu_);
    ended_.store(true, std::memory_order_release);
    advanced_.NotifyAll();
  }
  log_->End().Run();
}

SnapshotPtr CacheState::Unpublish(Revision revision) {
  // Clear the snapshot before storing the revision, so that readers of the new revision create a
  // new snapshot.
  SnapshotPtr old = published_.Exchange(nullptr);
  revision_.store(revision, std::memory_order_release);
  return old;
}

CacheState::Difference CacheState::Replace(std::vector<EntryPtr> entries, Revision revision) {
  size_t bytes = 0;
  for (const EntryPtr& entry : entries) bytes += SizeOf(entry);
  // Only the updating thread changes the state, so the comparison needs no lock.
  Changes changes;
  const SnapshotPtr known = Current();
  Difference difference;
  difference.notified = known != nullptr && Compare(*known, entries, revision, changes);
  difference.changes = changes.size();
  KeyTree tree = KeyTree::FromSorted(entries);
  FieldIndex by_field;
  by_field.Reset(entries);
  SnapshotPtr old;  // freed after unlocking, as are the old tree and index
  ChangeLog::Wakes wakes;
  {
    MutexLock lock(mu_);
    old = Unpublish(revision);
    std::swap(tree_, tree);
    std::swap(by_field_, by_field);
    if (difference.notified) {
      wakes = log_->Append(changes, revision);
      // Changes before `revision` are incomplete and deletions have synthetic revisions, so new
      // watchers must not start there.
      log_->RejectBefore(revision);
    } else {
      ++generation_;  // before the restart: see At()
      wakes = log_->Restart(revision);
    }
    bytes_ = bytes;
    objects_ = entries.size();
    ready_.store(true, std::memory_order_release);
  }
  advanced_.NotifyAll();
  wakes.Run();
  past_.DropOld();
  return difference;
}

CacheState::Outcome CacheState::Apply(const WatchBatch& batch) {
  // Reading heads and copying bytes is the slowest part, so it runs before locking.
  std::vector<EntryPtr> entries(batch.events.size());
  for (size_t i = 0; i < batch.events.size(); ++i) {
    if (batch.events[i].type == Event::Type::kPut) entries[i] = MakeEntry(batch.events[i].kv);
  }
  Outcome outcome;
  Changes changes;
  ChangeLog::Wakes wakes;
  SnapshotPtr old;
  {
    MutexLock lock(mu_);
    Revision reached = std::max(revision(), batch.revision);
    for (size_t i = 0; i < batch.events.size(); ++i) {
      const Event& event = batch.events[i];
      const Fit fit = Classify(event, changes);
      if (fit == Fit::kContradicts) {
        outcome.inconsistency = std::string(event.type == Event::Type::kPut ? "put" : "delete") +
                                " of " + Quote(event.kv.key) + " at revision " +
                                std::to_string(event.kv.revision) + " does not follow revision " +
                                std::to_string(revision());
        // Other events of the same revision may be missing too.
        reached = std::max(revision(), event.kv.revision - 1);
        break;
      }
      if (fit == Fit::kRepeated) {
        ++outcome.repeated;
      } else {
        changes.push_back(ApplyEvent(event, std::move(entries[i])));
      }
    }
    outcome.changes = changes.size();
    if (!changes.empty() || reached > revision()) old = Unpublish(reached);
    wakes = log_->Append(changes, reached);
  }
  advanced_.NotifyAll();
  wakes.Run();
  past_.DropOld();
  return outcome;
}

// Checks an event against the current state. etcd has repeated events, sent progress notifications
// before the events they cover, and skipped events after it restarted a watch; all of these are
// detected here.
CacheState::Fit CacheState::Classify(const Event& event, const Changes& changes) const {
  const KeyValue& kv = event.kv;
  const EntryPtr known = tree_.Find(kv.key);
  const bool put = event.type == Event::Type::kPut;
  if (kv.revision > revision()) {
    // For example, a creation of an existing key means that a deletion is missing.
    const bool existed = !(put && event.created);
    const bool newer = known == nullptr || known->revision() < kv.revision;
    if (newer && existed == (known != nullptr)) return Fit::kNext;
    const bool twice = std::any_of(changes.begin(), changes.end(), [&](const ChangePtr& change) {
      return change->revision == kv.revision && change->entry->key() == kv.key;
    });
    return twice ? Fit::kRepeated : Fit::kContradicts;
  }
  // An event from the past is harmless if the cache has it or a later event of the same key.
  // Otherwise a progress notification was sent too early.
  if (known != nullptr && known->revision() >= kv.revision) return Fit::kRepeated;
  if (known == nullptr && !put) return Fit::kRepeated;
  return log_->Has(kv.key, kv.revision) ? Fit::kRepeated : Fit::kContradicts;
}

ChangePtr CacheState::ApplyEvent(const Event& event, EntryPtr entry) {
  if (event.type == Event::Type::kDelete) {
    EntryPtr last = tree_.Erase(event.kv.key);
    by_field_.Change(last, nullptr);
    bytes_ -= SizeOf(last);
    --objects_;
    return MakeChange(ChangeType::kDeleted, Entry::CreateDeleted(last, event.kv.revision), last);
  }
  bytes_ += SizeOf(entry);
  EntryPtr previous = tree_.Put(entry);
  by_field_.Change(previous, entry);
  bytes_ -= SizeOf(previous);
  if (previous == nullptr) ++objects_;
  const ChangeType type = previous == nullptr ? ChangeType::kAdded : ChangeType::kModified;
  return MakeChange(type, std::move(entry), std::move(previous));
}

}  // namespace cox::storage

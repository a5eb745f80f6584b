// SPDX-License-Identifier: Apache-2.0
#include "storage/memory/memory_store.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fiber.h"
#include "base/mutex.h"
#include "storage/errors.h"
#include "storage/memory/history.h"

namespace cox::storage {
namespace {

using internal::History;

// A batch ends with the revision in which it reaches this many events, so that a watch from an old
// revision does not hold the lock while it copies the whole history.
constexpr size_t kEventsPerBatch = 1000;

class MemoryWatch;

// State shared by the store and its watches, because watches may outlive the store.
struct Shared {
  explicit Shared(const MemoryOptions& options)
      : history(options.max_history_changes, options.max_history_bytes) {}

  Mutex mu;
  History history COX_GUARDED_BY(mu);
  std::vector<MemoryWatch*> watches COX_GUARDED_BY(mu);
  bool closed COX_GUARDED_BY(mu) = false;
};

class MemoryWatch final : public Watch {
 public:
  MemoryWatch(std::shared_ptr<Shared> shared, std::string_view prefix, Revision after)
      : shared_(std::move(shared)), prefix_(prefix), delivered_(after) {
    MutexLock lock(shared_->mu);
    shared_->watches.push_back(this);
  }
  ~MemoryWatch() override {
    MutexLock lock(shared_->mu);
    std::erase(shared_->watches, this);
  }

  Result<WatchBatch> Next(Context& ctx) override {
    MutexLock lock(shared_->mu);
    COX_RETURN_IF_ERROR(ctx.status());
    WatchBatch batch;
    while (true) {
      COX_RETURN_IF_ERROR(ctx.Await(shared_->mu, news_, [this]() {
        shared_->mu.AssertHeld();
        return changed_ || progress_requested_ || shared_->closed;
      }));
      if (shared_->closed) return Status::Unavailable("the store is closed");
      if (!shared_->history.CanReplay(delivered_)) {
        return CompactedError(delivered_ + 1, shared_->history.compacted());
      }
      batch.revision = shared_->history.Replay(prefix_, delivered_, kEventsPerBatch, batch.events);
      // A watch may start at a future revision; until then it delivers nothing.
      delivered_ = std::max(delivered_, batch.revision);
      const bool complete = batch.revision == shared_->history.revision();
      changed_ = !complete;
      if (!batch.events.empty() || (complete && progress_requested_)) {
        // The batch reports the current revision, with or without events.
        if (complete) progress_requested_ = false;
        return batch;
      }
    }
  }

  Status RequestProgress() override {
    MutexLock lock(shared_->mu);
    if (shared_->closed) return Status::Unavailable("the store is closed");
    progress_requested_ = true;
    news_.NotifyAll();
    return {};
  }

  // Called by the store for each written key. The store holds the shared lock, which the thread
  // safety analysis cannot prove.
  void OnKeyChanged(std::string_view key) {
    shared_->mu.AssertHeld();
    if (!key.starts_with(prefix_)) return;
    changed_ = true;
    news_.NotifyAll();
  }
  // Called after OnKeyChanged() for all keys of `revision`. A watch without pending changes
  // advances, so that compactions of other keys do not expire it and it does not scan changes of
  // other keys.
  void Advance(Revision revision) {
    shared_->mu.AssertHeld();
    if (!changed_ && delivered_ + 1 == revision) delivered_ = revision;
  }
  void Wake() { news_.NotifyAll(); }

 private:
  const std::shared_ptr<Shared> shared_;
  const std::string prefix_;
  CondVar news_;
  Revision delivered_ COX_GUARDED_BY(shared_->mu);
  // There may be changes after delivered_. Initially true, because the history was not scanned yet.
  bool changed_ COX_GUARDED_BY(shared_->mu) = true;
  bool progress_requested_ COX_GUARDED_BY(shared_->mu) = false;
};

class MemoryStore final : public Store {
 public:
  MemoryStore(Clock& clock, const MemoryOptions& options)
      : clock_(clock), options_(options), shared_(std::make_shared<Shared>(options)) {}

  ~MemoryStore() override {
    std::map<Clock::SteadyTime, Expiry> expiries;  // destroyed without the lock: see Timer
    {
      MutexLock lock(shared_->mu);
      expiries.swap(expiries_);
      shared_->closed = true;
      for (MemoryWatch* watch : shared_->watches) watch->Wake();
    }
  }

  Result<Revision> Create(Context& ctx, std::string_view key, std::string_view value,
                          std::chrono::seconds ttl) override {
    COX_ASSIGN_OR_RETURN(const WriteResult result, Update(ctx, key, value, 0, ttl));
    if (!result.written) return KeyExistsError(key);
    return result.revision;
  }

  Result<GetResult> Get(Context& ctx, std::string_view key) override {
    COX_RETURN_IF_ERROR(Begin(ctx));
    MutexLock lock(shared_->mu);
    GetResult result{std::nullopt, shared_->history.revision()};
    if (const KeyValue* kv = shared_->history.Find(key)) result.kv = *kv;
    return result;
  }

  Result<Page> List(Context& ctx, std::string_view prefix, const ListOptions& options) override {
    COX_RETURN_IF_ERROR(Begin(ctx));
    MutexLock lock(shared_->mu);
    return shared_->history.List(prefix, options);
  }

  Result<WriteResult> Update(Context& ctx, std::string_view key, std::string_view value,
                             Revision expected, std::chrono::seconds ttl) override {
    COX_RETURN_IF_ERROR(Begin(ctx));
    if (value.size() > options_.max_value_bytes) return ValueTooLargeError();
    Bytes bytes = Bytes::Copy(value);  // before the lock
    MutexLock lock(shared_->mu);
    if (std::optional<WriteResult> lost = Lost(key, expected)) return *std::move(lost);
    return PutLocked(key, std::move(bytes), ttl);
  }

  Result<WriteResult> Delete(Context& ctx, std::string_view key, Revision expected) override {
    COX_RETURN_IF_ERROR(Begin(ctx));
    MutexLock lock(shared_->mu);
    if (std::optional<WriteResult> lost = Lost(key, expected)) return *std::move(lost);
    if (expected == 0) return WriteResult{};  // the key does not exist, as expected: no write
    return RemoveLocked(key);
  }

  Result<WriteResult> WriteGuarded(Context& ctx, const GuardedWrite& write,
                                   const Guard& guard) override {
    COX_RETURN_IF_ERROR(Begin(ctx));
    const std::string_view value = write.value.value_or("");
    if (value.size() > options_.max_value_bytes) return ValueTooLargeError();
    Bytes bytes = Bytes::Copy(value);
    MutexLock lock(shared_->mu);
    if (std::optional<WriteResult> lost = Lost(write.key, write.expected)) return *std::move(lost);
    if (Lost(guard.key, guard.revision)) {
      const KeyValue* kv = shared_->history.Find(write.key);
      return WriteResult{false, 0, kv == nullptr ? std::nullopt : std::optional(*kv)};
    }
    if (write.value) return PutLocked(write.key, std::move(bytes), write.ttl);
    if (write.expected == 0) return WriteResult{};
    return RemoveLocked(write.key);
  }
  const void* key_space() const override { return shared_.get(); }

  Result<std::unique_ptr<Watch>> StartWatch(Context& ctx, std::string_view prefix,
                                            Revision after) override {
    COX_RETURN_IF_ERROR(Begin(ctx));
    return std::unique_ptr<Watch>(std::make_unique<MemoryWatch>(shared_, prefix, after));
  }

  Result<Revision> CurrentRevision(Context& ctx) override {
    COX_RETURN_IF_ERROR(Begin(ctx));
    MutexLock lock(shared_->mu);
    return shared_->history.revision();
  }

  Status Compact(Context& ctx, Revision revision) override {
    COX_RETURN_IF_ERROR(Begin(ctx));
    MutexLock lock(shared_->mu);
    return shared_->history.Compact(revision);
  }

  Status Healthy(Context& ctx) override { return ctx.status(); }

 private:
  static Status Begin(const Context& ctx) {
    CheckMayWait();  // as for a store that waits for a server
    return ctx.status();
  }
  // Keys that expire in the same second. `revision` detects keys that were rewritten since.
  struct Expiry {
    struct Entry {
      std::string key;
      Revision revision;
    };
    Timer timer;
    std::vector<Entry> entries;
  };

  // The result if the key's revision is not `expected`; nullopt if it matches.
  std::optional<WriteResult> Lost(std::string_view key, Revision expected) const
      COX_REQUIRES(shared_->mu) {
    const KeyValue* current = shared_->history.Find(key);
    if ((current == nullptr ? 0 : current->revision) == expected) return std::nullopt;
    WriteResult result;
    if (current != nullptr) result.current = *current;
    return result;
  }

  WriteResult PutLocked(std::string_view key, Bytes bytes, std::chrono::seconds ttl)
      COX_REQUIRES(shared_->mu) {
    History& history = shared_->history;
    const Revision revision = history.Begin();
    history.Put(key, std::move(bytes));
    if (ttl.count() > 0) ExpireLater(key, revision, ttl);
    Publish(revision, {&key, 1});
    return WriteResult{true, revision, std::nullopt};
  }
  WriteResult RemoveLocked(std::string_view key) COX_REQUIRES(shared_->mu) {
    const Revision revision = shared_->history.Begin();
    shared_->history.Delete(key);
    Publish(revision, {&key, 1});
    return WriteResult{true, revision, std::nullopt};
  }

  // Notifies the watches of the finished `revision`.
  void Publish(Revision revision, std::span<const std::string_view> keys)
      COX_REQUIRES(shared_->mu) {
    shared_->history.Trim();
    for (MemoryWatch* watch : shared_->watches) {
      for (const std::string_view key : keys) watch->OnKeyChanged(key);
      watch->Advance(revision);
    }
  }

  void ExpireLater(std::string_view key, Revision revision, std::chrono::seconds ttl)
      COX_REQUIRES(shared_->mu) {
    const Clock::SteadyTime due = std::chrono::ceil<std::chrono::seconds>(clock_.In(ttl));
    Expiry& expiry = expiries_[due];
    if (expiry.entries.empty()) {
      expiry.timer = clock_.After(due - clock_.Monotonic(), [this, due]() { Expire(due); });
    }
    expiry.entries.push_back({std::string(key), revision});
  }

  // Runs on the clock's thread.
  void Expire(Clock::SteadyTime due) {
    Expiry expiry;  // destroyed last, without the lock
    MutexLock lock(shared_->mu);
    const auto it = expiries_.find(due);
    if (it == expiries_.end()) return;  // the store is being destroyed
    expiry = std::move(it->second);
    expiries_.erase(it);
    History& history = shared_->history;
    std::vector<std::string_view> keys;
    for (const Expiry::Entry& entry : expiry.entries) {
      const KeyValue* current = history.Find(entry.key);
      if (current != nullptr && current->revision == entry.revision) keys.push_back(entry.key);
    }
    if (keys.empty()) return;
    const Revision revision = history.Begin();
    for (const std::string_view key : keys) history.Delete(key);
    Publish(revision, keys);
  }

  // Constant after construction.
  Clock& clock_;
  const MemoryOptions options_;
  const std::shared_ptr<Shared> shared_;

  // Keyed by expiry time.
  std::map<Clock::SteadyTime, Expiry> expiries_ COX_GUARDED_BY(shared_->mu);
};

}  // namespace

std::unique_ptr<Store> NewMemoryStore(Clock& clock, const MemoryOptions& options) {
  return std::make_unique<MemoryStore>(clock, options);
}

}  // namespace cox::storage

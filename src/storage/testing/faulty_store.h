// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "storage/store.h"

namespace cox::storage {

// For tests: a store decorator whose watches reproduce faults seen in etcd, and which can change
// objects between the steps of a request. By default it has no faults.
class FaultyStore final : public Store {
 public:
  explicit FaultyStore(Store& truth) : shared_(std::make_shared<Shared>()), truth_(truth) {}

  // Modifies every batch before delivery.
  void Edit(std::function<void(WatchBatch&)> edit) {
    MutexLock lock(shared_->mu);
    shared_->edit = std::move(edit);
  }
  // Makes the watch deliver this batch next.
  void Say(WatchBatch batch) {
    MutexLock lock(shared_->mu);
    shared_->injected.push_back(std::move(batch));
    if (shared_->watch != nullptr) static_cast<void>(shared_->watch->RequestProgress());
  }
  // Breaks the watch; the next `failures` attempts to start another one fail.
  void Break(Status why, int failures = 0) {
    MutexLock lock(shared_->mu);
    shared_->broken = std::move(why);
    shared_->failures = failures;
    if (shared_->watch != nullptr) static_cast<void>(shared_->watch->RequestProgress());
  }
  // Makes lists fail with this error; OK: lists work again.
  void FailLists(Status why) {
    MutexLock lock(shared_->mu);
    shared_->list_failure = std::move(why);
  }
  // Drops progress notifications: watches deliver only events.
  void WithholdProgress(bool silent) {
    MutexLock lock(shared_->mu);
    shared_->silent = silent;
  }
  void SetCurrentRevision(std::optional<Revision> revision) {
    MutexLock lock(shared_->mu);
    shared_->current = revision;
  }
  int watches_started() const {
    MutexLock lock(shared_->mu);
    return shared_->started;
  }
  int progress_requests() const {
    MutexLock lock(shared_->mu);
    return shared_->progress_requests;
  }
  int revisions_read() const {
    MutexLock lock(shared_->mu);
    return shared_->revisions_read;
  }
  // Runs before each CurrentRevision.
  void OnRevisionRead(std::function<void()> hook) {
    MutexLock lock(shared_->mu);
    shared_->on_revision_read = std::move(hook);
  }

  // Runs after each Get of the key, before the result is returned. The hook may use the store; its
  // own Gets do not run it.
  void OnGet(std::string key, std::function<void()> hook) {
    MutexLock lock(shared_->mu);
    shared_->get_key = std::move(key);
    shared_->on_get = std::move(hook);
  }
  // Runs once, before the next Delete. The hook may use the store.
  void OnNextDelete(std::function<void()> hook) {
    MutexLock lock(shared_->mu);
    shared_->on_delete = std::move(hook);
  }

  Result<Revision> Create(Context& ctx, std::string_view key, std::string_view value,
                          std::chrono::seconds ttl) override {
    return truth_.Create(ctx, key, value, ttl);
  }
  Result<GetResult> Get(Context& ctx, std::string_view key) override {
    Result<GetResult> found = truth_.Get(ctx, key);
    std::function<void()> hook;
    {
      MutexLock lock(shared_->mu);
      if (key == shared_->get_key) hook = std::exchange(shared_->on_get, nullptr);
    }
    if (!hook) return found;
    hook();
    MutexLock lock(shared_->mu);
    if (!shared_->on_get) shared_->on_get = std::move(hook);
    return found;
  }
  Result<Page> List(Context& ctx, std::string_view prefix, const ListOptions& options) override {
    {
      MutexLock lock(shared_->mu);
      if (!shared_->list_failure.ok()) return shared_->list_failure;
    }
    return truth_.List(ctx, prefix, options);
  }
  Result<WriteResult> Update(Context& ctx, std::string_view key, std::string_view value,
                             Revision expected, std::chrono::seconds ttl) override {
    return truth_.Update(ctx, key, value, expected, ttl);
  }
  Result<WriteResult> Delete(Context& ctx, std::string_view key, Revision expected) override {
    std::function<void()> hook;
    {
      MutexLock lock(shared_->mu);
      hook = std::exchange(shared_->on_delete, nullptr);
    }
    if (hook) hook();
    return truth_.Delete(ctx, key, expected);
  }
  Result<WriteResult> WriteGuarded(Context& ctx, const GuardedWrite& write,
                                   const Guard& guard) override {
    return truth_.WriteGuarded(ctx, write, guard);
  }
  const void* key_space() const override { return truth_.key_space(); }
  Result<std::unique_ptr<Watch>> StartWatch(Context& ctx, std::string_view prefix,
                                            Revision after) override {
    {
      MutexLock lock(shared_->mu);
      ++shared_->started;
      if (shared_->failures > 0) {
        --shared_->failures;
        return Status::Unavailable("no watch today");
      }
    }
    COX_ASSIGN_OR_RETURN(auto watch, truth_.StartWatch(ctx, prefix, after));
    return std::unique_ptr<Watch>(std::make_unique<LyingWatch>(shared_, std::move(watch)));
  }
  Result<Revision> CurrentRevision(Context& ctx) override {
    std::function<void()> hook;
    {
      MutexLock lock(shared_->mu);
      ++shared_->revisions_read;
      if (shared_->current) return *shared_->current;
      hook = shared_->on_revision_read;
    }
    if (hook) hook();
    return truth_.CurrentRevision(ctx);
  }
  Status Compact(Context& ctx, Revision revision) override { return truth_.Compact(ctx, revision); }
  Status Healthy(Context& ctx) override { return truth_.Healthy(ctx); }

 private:
  struct Shared {
    Mutex mu;
    std::function<void(WatchBatch&)> edit COX_GUARDED_BY(mu);
    std::deque<WatchBatch> injected COX_GUARDED_BY(mu);
    Watch* watch COX_GUARDED_BY(mu) = nullptr;
    Status broken COX_GUARDED_BY(mu);
    int failures COX_GUARDED_BY(mu) = 0;
    int started COX_GUARDED_BY(mu) = 0;
    int revisions_read COX_GUARDED_BY(mu) = 0;
    int progress_requests COX_GUARDED_BY(mu) = 0;
    Status list_failure COX_GUARDED_BY(mu);
    bool silent COX_GUARDED_BY(mu) = false;
    std::optional<Revision> current COX_GUARDED_BY(mu);
    std::function<void()> on_revision_read COX_GUARDED_BY(mu);
    std::string get_key COX_GUARDED_BY(mu);
    std::function<void()> on_get COX_GUARDED_BY(mu);
    std::function<void()> on_delete COX_GUARDED_BY(mu);
  };

  class LyingWatch final : public Watch {
   public:
    LyingWatch(std::shared_ptr<Shared> shared, std::unique_ptr<Watch> truth)
        : shared_(std::move(shared)), truth_(std::move(truth)) {
      MutexLock lock(shared_->mu);
      shared_->watch = truth_.get();
    }
    ~LyingWatch() override {
      MutexLock lock(shared_->mu);
      if (shared_->watch == truth_.get()) shared_->watch = nullptr;
    }

    Result<WatchBatch> Next(Context& ctx) override {
      for (;;) {
        {
          MutexLock lock(shared_->mu);
          if (!shared_->broken.ok()) return std::exchange(shared_->broken, Status());
          if (!shared_->injected.empty()) {
            WatchBatch lie = std::move(shared_->injected.front());
            shared_->injected.pop_front();
            return lie;
          }
          if (held_) {
            WatchBatch batch = *std::exchange(held_, std::nullopt);
            if (shared_->edit) shared_->edit(batch);
            if (!batch.events.empty() || !shared_->silent) return batch;
          }
        }
        COX_ASSIGN_OR_RETURN(held_, truth_->Next(ctx));
      }
    }
    Status RequestProgress() override {
      {
        MutexLock lock(shared_->mu);
        ++shared_->progress_requests;
      }
      return truth_->RequestProgress();
    }

   private:
    const std::shared_ptr<Shared> shared_;
    const std::unique_ptr<Watch> truth_;
    std::optional<WatchBatch> held_;  // a batch of the store, delivered after the injected ones
  };

  const std::shared_ptr<Shared> shared_;
  Store& truth_;
};

}  // namespace cox::storage

// SPDX-License-Identifier: Apache-2.0
#include "coxswain/object_cache.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "base/notification.h"
#include "base/worker_pool.h"
#include "sdk/cache/reflector.h"
#include "sdk/cache/resource_informer.h"

namespace cox::sdk {
namespace {

// Runs the steps of a reflector on the threads of a pool, one at a time.
//
// Threads: all methods may be called concurrently.
// Ownership: queued steps share it; they have no effect after Stop.
class ReflectorTask final : public std::enable_shared_from_this<ReflectorTask> {
 public:
  ReflectorTask(const Context& ctx, WorkerPool& pool, std::unique_ptr<Reflector> reflector)
      : ctx_(ctx.Child()), pool_(pool), reflector_(std::move(reflector)) {}

  // Runs a step soon.
  void Wake() {
    MutexLock lock(mu_);
    if (state_ == State::kIdle) {
      Enqueue();
    } else if (state_ == State::kRunning) {
      state_ = State::kRunningAgain;
    }
  }

  // Ends the watch: this step makes no more requests. REQUIRES: called by a step.
  void Finish() {
    finished_ = true;
    ctx_.Stop();
  }

  // Ends the watch, and waits until no step is running.
  void Stop() {
    ctx_.Stop();
    {
      MutexLock lock(mu_);
      idle_.Wait(mu_, [this]() COX_REQUIRES(mu_) {
        return state_ != State::kRunning && state_ != State::kRunningAgain;
      });
      state_ = State::kStopped;
    }
    // Without the lock, which the callback acquires.
    timer_.Cancel();
    reflector_.reset();
  }

 private:
  enum class State : uint8_t { kIdle, kQueued, kRunning, kRunningAgain, kStopped };

  // The pool rejects it when it is stopped, or if it has no thread and cannot start one.
  void Enqueue() COX_REQUIRES(mu_) {
    const bool queued = pool_.Submit([self = shared_from_this()] { self->RunStep(); });
    state_ = queued ? State::kQueued : State::kIdle;
  }

  void RunStep() {
    {
      MutexLock lock(mu_);
      if (state_ != State::kQueued) return;
      state_ = State::kRunning;
    }
    timer_.Cancel();
    const auto wake = [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->Wake();
    };
    const Clock::SteadyTime next =
        reflector_ == nullptr ? Clock::kNever : reflector_->Step(ctx_, wake);
    if (finished_) {
      reflector_.reset();
    } else if (next != Clock::kNever) {
      timer_ = ctx_.clock().After(next - ctx_.clock().Monotonic(), wake);
    }
    MutexLock lock(mu_);
    const bool again = state_ == State::kRunningAgain;
    state_ = State::kIdle;
    if (again && !ctx_.Done()) Enqueue();
    idle_.NotifyAll();
  }

  Context ctx_;
  WorkerPool& pool_;
  // Used by the running step, and by Stop when there is none.
  std::unique_ptr<Reflector> reflector_;
  Timer timer_;
  bool finished_ = false;
  Mutex mu_;
  CondVar idle_;
  State state_ COX_GUARDED_BY(mu_) = State::kIdle;
};

class WatchedObject final : public CachedObject {
 public:
  WatchedObject(std::shared_ptr<ResourceInformer> informer, InformerHandle handle,
                std::shared_ptr<ReflectorTask> task)
      : informer_(std::move(informer)),
        shared_(informer_),
        task_(std::move(task)),
        handle_(std::move(handle)) {
    task_->Wake();
  }
  ~WatchedObject() override {
    task_->Stop();
    informer_->End();
  }

  const std::shared_ptr<SharedInformer>& informer() const override { return shared_; }

 private:
  const std::shared_ptr<ResourceInformer> informer_;
  const std::shared_ptr<SharedInformer> shared_;  // the same
  const std::shared_ptr<ReflectorTask> task_;
  const InformerHandle handle_;  // its handler uses the task
};

class ReflectorPool final : public ObjectCache {
 public:
  ReflectorPool(const Context& ctx, Client& client, ObjectCacheOptions options)
      : ctx_(ctx.Child()),
        client_(client),
        options_(std::move(options)),
        pool_(ctx_, {.name = "object-watches",
                     .max_threads = options_.max_threads,
                     .max_queue = SIZE_MAX,
                     // If no thread could be started later, steps would be lost.
                     .idle = Clock::Duration::max()}) {}
  ~ReflectorPool() override { ctx_.Stop(); }

  std::unique_ptr<CachedObject> Watch(const Resource& resource, const ObjectKey& key,
                                      DeltaHandler handler) override {
    CacheScope scope = options_.cache.defaults;
    scope.namespaces = {key.ns};
    scope.fields = fields::Selector::OneTermEqual("metadata.name", key.name);
    auto informer =
        std::make_shared<ResourceInformer>(resource, false, std::move(scope), ctx_.clock(),
                                           Clock::Duration(), std::make_shared<Notification>());
    const ResourceInformer::FeedId feed = informer->StartFeed(key.ns);
    auto task = std::make_shared<ReflectorTask>(
        ctx_, pool_,
        std::make_unique<Reflector>(client_, options_.cache, informer, feed, key.ns, nullptr));
    // Only steps of the task call the handler.
    InformerHandle handle = informer->AddHandler(
        [this, task = task.get(), handler = std::move(handler)](const Delta& delta) {
          handler(delta);
          if (delta.after == nullptr || options_.is_final == nullptr) return;
          if (options_.is_final(*delta.after)) task->Finish();
        });
    return std::make_unique<WatchedObject>(std::move(informer), std::move(handle), std::move(task));
  }

 private:
  Context ctx_;
  Client& client_;
  const ObjectCacheOptions options_;
  WorkerPool pool_;
};

}  // namespace
}  // namespace cox::sdk

namespace cox {

std::unique_ptr<ObjectCache> ObjectCache::Create(const Context& ctx, Client& client,
                                                 ObjectCacheOptions options) {
  return std::make_unique<sdk::ReflectorPool>(ctx, client, std::move(options));
}

}  // namespace cox

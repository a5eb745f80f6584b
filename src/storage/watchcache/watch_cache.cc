// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/watch_cache.h"

#include <chrono>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/scope.h"
#include "storage/errors.h"
#include "storage/watchcache/cache_state.h"
#include "storage/watchcache/consistency_check.h"
#include "storage/watchcache/feed.h"

namespace cox::storage {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long a read waits for the cache to become fresh enough.
constexpr seconds kReadTimeout{3};
// When a waiting read requests progress: first after the event could have arrived by itself, then
// periodically, because a response may have been lost.
constexpr milliseconds kFirstProgressRequest{5};
constexpr milliseconds kProgressRetry{100};

// The interval of the consistency check, randomized so that the caches of a server do not check all
// at once. A difference is found within five minutes.
constexpr seconds kCheckEvery{150};
constexpr seconds kCheckSpread{90};

class WatchCacheImpl final : public WatchCache {
 public:
  WatchCacheImpl(const Context& ctx, Store& store, Options options)
      : clock_(ctx.clock()),
        store_(store),
        resource_(options.resource),
        prefix_(options.prefix),
        check_every_(kCheckEvery + seconds(std::hash<std::string>()(options.prefix) %
                                           static_cast<size_t>(kCheckSpread.count()))),
        revisions_(options.revisions != nullptr ? std::move(options.revisions)
                                                : std::make_shared<RevisionReader>(ctx, store)),
        state_(ctx.clock(), options.prefix, options.capacity, options.max_capacity,
               *options.head_reader,
               options.encodings != nullptr ? std::move(options.encodings)
                                            : std::make_shared<EncodingBudget>()),
        feed_(store, options.prefix, state_, MakeMetrics(options)),
        scope_(ctx, "watch cache of " + resource_) {
    COX_CHECK_OK(scope_.Go("wc-" + resource_, [this](Context& work) { feed_.Run(work); }));
    ScheduleCheck();
  }
  ~WatchCacheImpl() override { StopWork(); }

  void End() override {
    StopWork();
    state_.End();
  }

  Status WaitReady(Context& ctx) override {
    if (state_.Await(ctx, 0, Clock::kNever)) return {};
    return ctx.status();
  }
  bool ready() const override { return state_.ready(); }
  SnapshotPtr Current() const override { return state_.Current(); }

  Result<SnapshotPtr> Read(Context& ctx, const Freshness& freshness) override {
    if (freshness.match == Freshness::Match::kExact) return ReadExact(ctx, freshness.revision);
    COX_RETURN_IF_ERROR(WaitFresh(ctx, freshness));
    return state_.Current();
  }

  Result<Selection> ReadByField(Context& ctx, const Freshness& freshness,
                                std::string_view value) override {
    COX_CHECK(freshness.match != Freshness::Match::kExact && !value.empty())
        << "the index contains the values of the current state";
    COX_RETURN_IF_ERROR(WaitFresh(ctx, freshness));
    return state_.FindByField(value);
  }

  Status WaitFor(Context& ctx, Revision revision) override {
    if (Await(ctx, revision, false)) return {};
    if (ctx.Done()) return ctx.status();
    if (!state_.ready()) return NotReady(ctx);
    return FutureRevisionError(revision, state_.revision());
  }

  Result<std::unique_ptr<Watcher>> Watch(WatchOptions options) override {
    if (!state_.ready())
      return Status::Unavailable("the watch cache of " + resource_ + " is not ready");
    return state_.log().Watch(std::move(options));
  }

  Stats stats() const override {
    Stats stats;
    stats.objects = state_.objects();
    stats.bytes = state_.bytes();
    stats.watchers = state_.log().watchers();
    stats.capacity = state_.log().capacity();
    stats.lists = feed_.lists();
    return stats;
  }

 private:
  void StopWork() {
    scope_.Stop();
    scope_.Wait();
    // The timer must be destroyed before the scope that its callback uses, and without the lock.
    Timer last;
    MutexLock lock(check_mu_);
    std::swap(last, check_);
  }

  WatchCacheMetrics::Series* MakeMetrics(const Options& options) {
    if (options.metrics == nullptr) return nullptr;
    return &metrics_.emplace(*options.metrics, options.group, options.resource);
  }

  Status NotReady(const Context& ctx) const {
    if (ctx.Done()) return ctx.status();
    return Status::Unavailable("the watch cache of " + resource_ + " is not ready");
  }

  // Waits until the current state is as fresh as requested. REQUIRES: not kExact.
  Status WaitFresh(Context& ctx, const Freshness& freshness) {
    if (freshness.match == Freshness::Match::kLatest) return WaitLatest(ctx);
    if (freshness.match == Freshness::Match::kNotOlderThan) return WaitFor(ctx, freshness.revision);
    return Await(ctx, 0, false) ? Status() : NotReady(ctx);
  }

  Status WaitLatest(Context& ctx) {
    if (!Await(ctx, 0, false)) return NotReady(ctx);
    const Revision before = state_.revision();
    Result<Revision> latest = revisions_->Read(ctx);
    if (!latest.ok()) return Fallback(latest.status());
    if (*latest < before) {
      // The store was restored from a backup, so the cache's content is invalid.
      feed_.Relist("the store went back to revision " + std::to_string(*latest));
      return Fallback(Status::Unavailable("the store went back in time"));
    }
    if (!Await(ctx, *latest, true)) {
      if (ctx.Done()) return ctx.status();
      return Fallback(Status::Unavailable("the watch cache of " + resource_ + " is behind"));
    }
    if (metrics_) metrics_->consistent_ok.Inc();
    return {};
  }

  Status Fallback(Status why) {
    if (metrics_) metrics_->consistent_fallback.Inc();
    return why;
  }

  Result<SnapshotPtr> ReadExact(Context& ctx, Revision revision) {
    COX_RETURN_IF_ERROR(WaitFor(ctx, revision));
    if (SnapshotPtr snapshot = state_.At(revision)) return snapshot;
    return Status::Expired("revision " + std::to_string(revision) + " is not in the watch cache");
  }

  // Waits until the cache has `revision`. Urgent: the store is known to have it, so request
  // progress at once; otherwise the events will most likely arrive by themselves.
  bool Await(const Context& ctx, Revision revision, bool urgent) {
    if (state_.ready() && state_.revision() >= revision) {
      if (metrics_) metrics_->read_wait.Observe(0);
      return true;
    }
    Clock& clock = ctx.clock();
    const Clock::SteadyTime began = clock.Monotonic();
    const Clock::SteadyTime deadline = clock.In(kReadTimeout);
    if (urgent) feed_.RequireRevision(revision);
    bool there = false;
    for (milliseconds pause = urgent ? kProgressRetry : kFirstProgressRequest;;
         pause = kProgressRetry) {
      there = state_.Await(ctx, revision, std::min(deadline, clock.In(pause)));
      if (there || ctx.Done() || state_.ended() || clock.Monotonic() >= deadline) break;
      feed_.RequestProgress(true);
    }
    if (metrics_) {
      metrics_->read_wait.Observe(std::chrono::duration<double>(clock.Monotonic() - began).count());
    }
    return there;
  }

  // Runs on its own thread, because a check may take long and is rare.
  void ScheduleCheck() {
    MutexLock lock(check_mu_);
    if (scope_.stop_requested()) return;
    check_ = clock_.After(check_every_, [this] {
      // Go() fails if the cache is being destroyed.
      static_cast<void>(scope_.Go("wc-check", [this](Context& work) {
        Check(work);
        ScheduleCheck();
      }));
    });
  }

  void Check(Context& ctx) {
    const SnapshotPtr snapshot = state_.Current();
    if (snapshot == nullptr) return;
    const Result<std::string> difference = FindDifference(ctx, store_, prefix_, *snapshot);
    if (!difference.ok()) {
      if (metrics_) metrics_->check_error.Inc();
      return;
    }
    if (metrics_) (difference->empty() ? metrics_->check_ok : metrics_->check_failed).Inc();
    if (difference->empty()) return;
    COX_WARNING(ctx.log(), "Watch cache differs from the store; relisting", {"prefix", prefix_},
                {"why", *difference});
    feed_.Relist(*difference);
  }

  Clock& clock_;
  Store& store_;
  const std::string resource_;
  const std::string prefix_;
  const Clock::Duration check_every_;
  std::optional<WatchCacheMetrics::Series> metrics_;
  const std::shared_ptr<RevisionReader> revisions_;
  CacheState state_;
  Feed feed_;
  Mutex check_mu_;
  Timer check_ COX_GUARDED_BY(check_mu_);
  Scope scope_;
};

}  // namespace

std::unique_ptr<WatchCache> WatchCache::Create(const Context& ctx, Store& store, Options options) {
  COX_CHECK(options.head_reader != nullptr) << "a watch cache needs a head reader";
  return std::make_unique<WatchCacheImpl>(ctx, store, std::move(options));
}

}  // namespace cox::storage

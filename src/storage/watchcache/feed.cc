// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/feed.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/heap.h"

namespace cox::storage {
namespace {

// The target size of a page: few calls for small objects, little memory for large ones.
constexpr size_t kPageBytes = 16u << 20;
constexpr int64_t kFirstPage = 1'000;
constexpr int64_t kMinPage = 500;
constexpr int64_t kMaxPage = 10'000;
// The backoff is reset after a watch that lived this long.
constexpr std::chrono::seconds kHealthy{5};

int64_t NextLimit(const Page& page) {
  size_t bytes = 1;
  for (const KeyValue& kv : page.items) bytes += kv.value.size();
  const auto fitting = static_cast<int64_t>(kPageBytes * page.items.size() / bytes);
  return std::clamp(fitting, kMinPage, kMaxPage);
}

// After a list of this size, free memory is returned to the operating system.
constexpr size_t kReturnFrom = size_t{4} << 20;

}  // namespace

Feed::Feed(Store& store, std::string prefix, CacheState& state, WatchCacheMetrics::Series* metrics)
    : store_(store),
      prefix_(std::move(prefix)),
      state_(state),
      metrics_(metrics),
      random_(static_cast<unsigned>(std::hash<std::string>()(prefix_))) {}

void Feed::Run(Context& ctx) {
  while (!ctx.Done()) {
    bool list = false;
    {
      MutexLock lock(mu_);
      list = must_list_;
    }
    if (list) {
      if (const Status status = List(ctx); !status.ok()) {
        if (ctx.Done()) return;
        // The store logs once that it is unavailable; every cache would repeat it.
        if (status.Is(Reason::kServiceUnavailable)) {
          COX_V(ctx.log(), 2, "Could not list for the watch cache", {"prefix", prefix_},
                {"err", status.ToString()});
        } else {
          COX_WARNING(ctx.log(), "Could not list for the watch cache", {"prefix", prefix_},
                      {"err", status.ToString()});
        }
        Pause(ctx);
        continue;
      }
    }
    const Clock::SteadyTime began = ctx.clock().Monotonic();
    const Status status = Follow(ctx);
    if (ctx.Done()) return;
    COX_V(ctx.log(), 2, "Watch closed", {"prefix", prefix_}, {"err", status.ToString()});
    if (status.Is(Reason::kExpired)) {
      MutexLock lock(mu_);
      must_list_ = true;
    }
    if (ctx.clock().Monotonic() - began > kHealthy) pause_ = kFirstPause;
    Pause(ctx);
  }
}

void Feed::Pause(Context& ctx) {
  // Jitter: sleep between half and all of pause_.
  const auto half = pause_ / 2;
  const auto chance =
      std::chrono::milliseconds(random_() % static_cast<unsigned>(half.count() + 1));
  pause_ = std::min(pause_ * 2, kLongestPause);
  static_cast<void>(ctx.Sleep(half + chance));  // on error the caller checks ctx
}

Status Feed::List(Context& ctx) {
  const SnapshotPtr known = state_.Current();
  std::vector<EntryPtr> entries;
  ListOptions options;
  options.limit = kFirstPage;
  for (bool more = true; more;) {
    COX_ASSIGN_OR_RETURN(Page page, store_.List(ctx, prefix_, options));
    if (options.at == 0) {
      options.at = page.revision;
      entries.reserve(static_cast<size_t>(std::max<int64_t>(page.count, 0)));
    }
    for (const KeyValue& kv : page.items) {
      // Keep unchanged entries with their encodings.
      EntryPtr entry = known == nullptr ? nullptr : known->Find(kv.key);
      if (entry == nullptr || entry->revision() != kv.revision ||
          entry->stored() != kv.value.view()) {
        entry = state_.MakeEntry(kv);
      }
      entries.push_back(std::move(entry));
    }
    more = page.more && !page.items.empty();
    if (more) {
      options.start = page.items.back().key + '\0';
      options.limit = NextLimit(page);
    }
  }
  {
    // Reset before the state is replaced, so that a later Relist() is not lost.
    MutexLock lock(mu_);
    must_list_ = false;
  }
  // The store may have been restored from a backup without the revision that a reader waited for.
  // Readers that still wait request progress again.
  required_revision_.store(options.at);
  const size_t objects = entries.size();
  const CacheState::Difference difference = state_.Replace(std::move(entries), options.at);
  // Return the memory of the pages to the operating system. Otherwise the allocator keeps it, about
  // half of the cache's size, which may never be needed again.
  if (state_.bytes() >= kReturnFrom) ReturnFreeMemory();
  lists_.fetch_add(1, std::memory_order_relaxed);
  if (metrics_ != nullptr) {
    metrics_->initializations.Inc();
    metrics_->initial.Inc(objects);
    metrics_->dispatched.Inc(difference.notified ? difference.changes : 0);
  }
  UpdateGauges();
  COX_V(ctx.log(), 2, "Listed for the watch cache", {"prefix", prefix_}, {"objects", objects},
        {"revision", options.at}, {"changes", difference.changes});
  return {};
}

Status Feed::Follow(Context& ctx) {
  Context attempt = ctx.Child();
  {
    MutexLock lock(mu_);
    if (must_list_) return {};
    following_ = attempt;
  }
  COX_ASSIGN_OR_RETURN(std::shared_ptr<Watch> watch,
                       store_.StartWatch(attempt, prefix_, state_.revision()));
  {
    MutexLock lock(mu_);
    watch_ = watch;
    progress_requested_ = false;
  }
  if (required_revision_.load() > state_.revision()) RequestProgress(true);
  Status status;
  while (status.ok()) {
    Result<WatchBatch> batch = watch->Next(attempt);
    if (!batch.ok()) {
      status = batch.status();
      break;
    }
    const CacheState::Outcome outcome = state_.Apply(*batch);
    OnBatchApplied(*batch, outcome);
    if (!outcome.inconsistency.empty()) {
      COX_WARNING(ctx.log(), "Watch events are inconsistent with the cache; relisting",
                  {"prefix", prefix_}, {"why", outcome.inconsistency});
      status = Status::Expired(outcome.inconsistency);
    }
  }
  MutexLock lock(mu_);
  watch_ = nullptr;
  following_.reset();
  return status;
}

void Feed::OnBatchApplied(const WatchBatch& batch, const CacheState::Outcome& outcome) {
  {
    // A store may answer a progress request with events.
    MutexLock lock(mu_);
    progress_requested_ = false;
  }
  // The answered request may be older than the write that a reader waits for.
  if (required_revision_.load() > state_.revision()) RequestProgress(false);
  if (metrics_ == nullptr) return;
  metrics_->received.Inc(batch.events.size());
  metrics_->stored.Inc(batch.events.size());
  metrics_->dispatched.Inc(outcome.changes);
  metrics_->repeated.Inc(outcome.repeated);
  if (!outcome.inconsistency.empty()) metrics_->inconsistent.Inc();
  UpdateGauges();
}

void Feed::UpdateGauges() {
  if (metrics_ == nullptr) return;
  const size_t capacity = state_.log().capacity();
  if (capacity_ != 0 && capacity > capacity_) metrics_->capacity_up.Inc();
  if (capacity < capacity_) metrics_->capacity_down.Inc();
  capacity_ = capacity;
  const uint64_t expired = state_.log().expired();
  metrics_->terminated.Inc(expired - std::exchange(expired_, expired));
  metrics_->capacity.Set(static_cast<double>(capacity));
  metrics_->revision.Set(static_cast<double>(state_.revision()));
  metrics_->objects.Set(static_cast<double>(state_.objects()));
  metrics_->stored_objects.Set(static_cast<double>(state_.objects()));
  metrics_->bytes.Set(static_cast<double>(state_.bytes()));
}

void Feed::RequestProgress(bool again) {
  std::shared_ptr<Watch> watch;
  {
    MutexLock lock(mu_);
    if (watch_ == nullptr || (progress_requested_ && !again)) return;
    progress_requested_ = true;
    watch = watch_;
  }
  // If the request fails, the watch is about to end, and Run() handles that.
  static_cast<void>(watch->RequestProgress());
}

void Feed::RequireRevision(Revision revision) {
  Revision known = required_revision_.load();
  while (known < revision && !required_revision_.compare_exchange_weak(known, revision)) {
  }
  RequestProgress(false);
}

void Feed::Relist(std::string why) {
  std::optional<Context> following;
  {
    MutexLock lock(mu_);
    must_list_ = true;
    following = following_;
  }
  if (following) following->Stop(Status::Expired(std::move(why)));
}

}  // namespace cox::storage

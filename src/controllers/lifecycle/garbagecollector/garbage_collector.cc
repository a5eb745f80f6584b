// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/garbagecollector/garbage_collector.h"

#include <algorithm>
#include <chrono>

#include "base/scope.h"
#include "controllers/lifecycle/garbagecollector/collector.h"
#include "controllers/lifecycle/garbagecollector/graph.h"
#include "controllers/lifecycle/garbagecollector/kinds.h"
#include "controllers/lifecycle/garbagecollector/monitors.h"
#include "coxswain/work_queue.h"

namespace cox::controllers {
namespace gc {
namespace {

constexpr const char* kName = "garbage-collector-controller";
// Timeout for the initial lists: a kind that cannot be listed must not block the others.
constexpr std::chrono::seconds kFirstLists{30};
constexpr std::chrono::seconds kDiscoverAgain{1};

class GarbageCollector {
 public:
  GarbageCollector(Manager& manager, Cache& metadata, int workers)
      : workers_(workers),
        client_(metadata.WritingThrough(manager.client())),
        to_delete_(MakeQueue(manager, "garbage_collector_attempt_to_delete")),
        to_orphan_(MakeQueue(manager, "garbage_collector_attempt_to_orphan")),
        discovery_failures_(
            manager.metrics().AddCounter({"garbagecollector_controller_resources_sync_error_total",
                                          "Number of garbage collector resources sync errors"})),
        collector_(*client_, manager.events(), graph_, kinds_,
                   [this](const Effects& effects) { Enqueue(effects); }),
        monitors_(*client_, manager.cache(), metadata, graph_, kinds_,
                  [this](const Effects& effects) { Enqueue(effects); }) {}

  Status Run(Context& ctx) {
    while (!Refresh(ctx)) {
      if (ctx.Done()) return {};
      (void)ctx.Sleep(kDiscoverAgain);
    }
    Context first = ctx.WithTimeout(kFirstLists);
    const Status synced = monitors_.WaitSynced(first);
    if (ctx.Done()) return {};
    if (!synced.ok()) COX_WARNING(ctx.log(), "Some kinds could not be listed yet");
    COX_INFO(ctx.log(), "Started collecting garbage", {"objects", graph_.size()});

    Scope scope(ctx, kName);
    Status started;
    for (int i = 0; i < workers_ && started.ok(); ++i) {
      started = scope.Go("gc-delete", [this](Context& run) { WorkOnDeletes(run); });
    }
    for (int i = 0; i < std::max(1, workers_ / 4) && started.ok(); ++i) {
      started = scope.Go("gc-orphan", [this](Context& run) { WorkOnOrphans(run); });
    }
    if (started.ok()) FollowDiscovery(ctx);
    scope.Stop();
    scope.Wait();
    return ctx.Done() ? Status() : started;
  }

 private:
  bool Refresh(Context& ctx) {
    const Status status = monitors_.Refresh(ctx);
    if (status.ok() || ctx.Done()) return status.ok();
    discovery_failures_.Inc();
    COX_WARNING(ctx.log(), "Discovery failed, retrying", {"err", status});
    return false;
  }
  void FollowDiscovery(Context& ctx) {
    while (!ctx.Done()) {
      monitors_.AwaitKindChange(ctx);
      if (!ctx.Done()) (void)Refresh(ctx);
    }
  }
  static std::unique_ptr<WorkQueue> MakeQueue(Manager& manager, std::string name) {
    // No overall rate limit: the deletion of a namespace makes thousands of keys fail for a moment.
    return WorkQueue::Create(
        manager.context().clock(),
        {.name = std::move(name), .limiter = ExponentialBackoff(), .metrics = &manager.metrics()});
  }
  void Enqueue(const Effects& effects) {
    for (const Identity& owner : effects.gone) collector_.RecordAbsent(owner);
    for (const std::string& uid : effects.to_delete) to_delete_->Add({"", uid});
    for (const std::string& uid : effects.to_orphan) to_orphan_->Add({"", uid});
  }

  void WorkOnDeletes(Context& ctx) {
    while (const auto item = to_delete_->Get(ctx)) {
      const auto outcome = collector_.AttemptToDelete(ctx, item->key.name);
      if (!outcome.ok()) {
        Failed(ctx, outcome.status(), item->key, *to_delete_);
      } else if (*outcome == Collector::Outcome::kRetry) {
        to_delete_->AddRateLimited(item->key);
      } else {
        to_delete_->Forget(item->key);
      }
      to_delete_->Done(item->key);
    }
  }
  void WorkOnOrphans(Context& ctx) {
    while (const auto item = to_orphan_->Get(ctx)) {
      const Status status = collector_.AttemptToOrphan(ctx, item->key.name);
      if (status.ok()) {
        to_orphan_->Forget(item->key);
      } else {
        Failed(ctx, status, item->key, *to_orphan_);
      }
      to_orphan_->Done(item->key);
    }
  }
  static void Failed(Context& ctx, const Status& status, const ObjectKey& key, WorkQueue& queue) {
    if (!ctx.Done()) {
      COX_V(ctx.log(), 2, "Collecting failed, retrying", {"uid", key.name}, {"err", status});
    }
    queue.AddRateLimited(key);
  }

  const int workers_;
  const std::unique_ptr<Client> client_;  // writes through both caches
  const std::unique_ptr<WorkQueue> to_delete_;
  const std::unique_ptr<WorkQueue> to_orphan_;
  Counter& discovery_failures_;
  Graph graph_;
  Kinds kinds_;
  Collector collector_;
  Monitors monitors_;  // last: its handlers use the other members
};

}  // namespace
}  // namespace gc

Status AddGarbageCollector(Manager& manager, const GarbageCollectorOptions& options) {
  COX_ASSIGN_OR_RETURN(
      Cache * metadata,
      manager.AddCluster(gc::kName,
                         std::shared_ptr<Client>(std::shared_ptr<void>(), &manager.client()),
                         gc::Monitors::MetadataOptions()));
  return manager.Add(gc::kName,
                     [&manager, metadata, workers = options.concurrent_syncs](Context& ctx) {
                       gc::GarbageCollector collector(manager, *metadata, std::max(1, workers));
                       return collector.Run(ctx);
                     });
}

}  // namespace cox::controllers

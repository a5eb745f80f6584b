// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/context.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "scheduler/framework/framework.h"
#include "scheduler/queue/in_flight.h"
#include "scheduler/queue/queued_pod.h"

namespace cox::scheduler {

struct QueueOptions {
  std::chrono::milliseconds initial_backoff{1'000};
  std::chrono::milliseconds max_backoff{10'000};
  // Time after which an unschedulable Pod is retried even without an event.
  std::chrono::milliseconds max_unschedulable{300'000};
  // If the active queue is empty, Pods in backoff (except after errors) are popped early.
  bool pop_from_backoff = true;
};

// The plugins that the queue calls.
struct QueuePlugins {
  const QueueSortPlugin* sort = nullptr;
  std::function<PluginStatus(const PodInfo&)> pre_enqueue;
  // By scheduler name and plugin.
  std::map<std::string, std::map<std::string, std::vector<EventInterest>, std::less<>>> events;
};

// The scheduling queue: Pods without a node.
//
//   Set ──▶ active ──Pop──▶ in flight ──Done
//            ▲  ▲               │ AddUnschedulable
//            │  └── backoff ◀───┤  (an event meanwhile, or an error)
//            │         ▲        ▼
//            └─────────┴── unschedulable ── events of interest to a plugin that rejected it
//   gated: rejected by PreEnqueue, never attempted
//
// Guarantees: a Pod is in one place at a time. No event between a Pod's pop and its rejection is
//   lost. A rejected Pod is retried after max_unschedulable at the latest.
// Threads: all methods may be called concurrently.
class SchedulingQueue {
 public:
  SchedulingQueue(Clock& clock, QueuePlugins plugins, QueueOptions options = {},
                  CounterVec* incoming = nullptr);

  // Adds or updates an unscheduled Pod; with `only_if_known`, only updates.
  void Set(PodInfoPtr pod, bool only_if_known = false);
  void Delete(const std::string& uid);

  // Blocks until a Pod is available. It is in flight until Done or AddUnschedulable.
  Result<QueuedPodPtr> Pop(Context& ctx);
  void Done(const std::string& uid);
  // Requeues a Pod after a failed attempt; its plugin sets contain the plugins that rejected it
  // (empty: an error). Pods that were deleted meanwhile are dropped.
  void AddUnschedulable(const QueuedPodPtr& pod);

  // Moves Pods that the event may make schedulable. Changes of queued Pods are handled by Set.
  void OnEvent(const ClusterEvent& event);
  // Returns whether any plugin is interested in such events.
  bool Wants(uint32_t bits) const { return (interests_ & bits) != 0; }

  struct Sizes {
    size_t active = 0, backoff = 0, unschedulable = 0, gated = 0, in_flight = 0;
  };
  Sizes sizes() const;
  // The number of unschedulable Pods by profile and rejecting plugin.
  std::map<std::pair<std::string, std::string>, size_t> CountUnschedulable() const;

 private:
  using Place = QueuedPod::Place;
  enum class Hint : uint8_t { kSkip, kAfterBackoff, kNow };
  struct Less {
    const QueueSortPlugin* sort;
    bool operator()(const QueuedPodPtr& a, const QueuedPodPtr& b) const;
  };
  struct Sooner {
    bool operator()(const QueuedPodPtr& a, const QueuedPodPtr& b) const;
  };

  void UpdateLocked(QueuedPod& waiting, PodInfoPtr pod) COX_REQUIRES(mu_);
  Hint HintFor(const QueuedPod& waiting, const ClusterEvent& event) const;
  bool Interested(const QueuedPod& waiting, std::string_view plugin,
                  const ClusterEvent& event) const;
  void Requeue(const QueuedPodPtr& pod, Hint hint, std::string_view why) COX_REQUIRES(mu_);
  void Put(const QueuedPodPtr& pod, Place place, std::string_view why) COX_REQUIRES(mu_);
  void Take(const QueuedPodPtr& pod) COX_REQUIRES(mu_);
  Clock::Duration BackoffOf(const QueuedPod& pod) const;
  void Flush() COX_REQUIRES(mu_);
  Clock::SteadyTime NextDue() const COX_REQUIRES(mu_);
  QueuedPodPtr TakeNext() COX_REQUIRES(mu_);

  Clock& clock_;
  const QueuePlugins plugins_;
  const QueueOptions options_;
  CounterVec* const incoming_;  // may be null
  uint32_t interests_ = 0;

  mutable Mutex mu_;
  CondVar changed_;
  uint64_t arrivals_ COX_GUARDED_BY(mu_) = 0;
  std::unordered_map<std::string, QueuedPodPtr> pods_ COX_GUARDED_BY(mu_);  // by uid; not in flight
  std::set<QueuedPodPtr, Less> active_ COX_GUARDED_BY(mu_);
  std::set<QueuedPodPtr, Sooner> backoff_ COX_GUARDED_BY(mu_);
  std::set<QueuedPodPtr, Sooner> error_backoff_ COX_GUARDED_BY(mu_);
  std::unordered_map<std::string, QueuedPodPtr> unschedulable_ COX_GUARDED_BY(mu_);
  size_t gated_ COX_GUARDED_BY(mu_) = 0;
  Clock::SteadyTime flushed_ COX_GUARDED_BY(mu_);
  InFlight in_flight_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::scheduler

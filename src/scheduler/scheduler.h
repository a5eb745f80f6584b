// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/worker_pool.h"
#include "coxswain/manager.h"
#include "scheduler/cache/scheduler_cache.h"
#include "scheduler/config/options.h"
#include "scheduler/config/profile.h"
#include "scheduler/cycle/cycle.h"
#include "scheduler/cycle/metrics.h"
#include "scheduler/framework/waiting_pods.h"
#include "scheduler/queue/scheduling_queue.h"

namespace cox::scheduler {

// Assigns Pods to nodes, like kube-scheduler.
//
//   informers ──▶ queue ──Pop──▶ cycle: filter, score, choose ──assume──▶ binding (asynchronous)
//       └───────▶ cache ──▶ snapshot ──┘                                     │ failed: forget,
//                   ▲                                                        │ back to the queue
//                   └────────────────────── assumed Pods ◀───────────────────┘
//
// One thread schedules the Pods one by one; other threads do the writes asynchronously. All state
// comes from the informers of Pods and Nodes, so the scheduler can be restarted at any time.
//
// Threads: Run once, by one thread.
// Ownership: client, cache and metrics outlive it.
class Scheduler {
 public:
  struct Parts {
    Client& client;  // for bindings, conditions and events
    Cache& cache;
    MetricsRegistry& metrics;
    Clock& clock;
  };
  // Returns BadRequest for invalid options.
  static Result<std::unique_ptr<Scheduler>> Create(const Parts& parts, SchedulerOptions options);
  ~Scheduler();

  // Runs until `ctx` stops, and waits for pending bindings.
  Status Run(Context& ctx);

  // Use Create.
  Scheduler(const Parts& parts, SchedulerOptions options, std::unique_ptr<WaitingPods> waiting,
            std::map<std::string, std::unique_ptr<Profile>> profiles);

 private:
  QueuePlugins MakeQueuePlugins() const;
  void AddGauges(MetricsRegistry& registry);

  // Informer handlers; event_handlers.cc
  void OnPod(const Delta& delta);
  void OnPodDeleted(const std::shared_ptr<const core::v1::Pod>& pod);
  void OnAssignedPod(const std::shared_ptr<const core::v1::Pod>& before, const PodInfoPtr& pod);
  void OnNode(const Delta& delta);

  // Scheduling of one Pod; schedule_one.cc
  struct Attempt {
    QueuedPodPtr pod;
    const Profile* profile;
    Clock::SteadyTime begun;
    std::string node;
    CycleState state;  // used from Reserve to PostBind
  };
  void ScheduleOne(Context& ctx, const QueuedPodPtr& pod);
  PluginStatus Reserve(Attempt& attempt, std::vector<WaitingPods::Wait>& waits);
  void Bind(Context& ctx, Attempt& attempt);
  void Reject(Context& ctx, Attempt& attempt, const PluginStatus& status);
  PluginStatus TryBind(Context& ctx, Attempt& attempt);
  void Undo(Attempt& attempt);
  void Fail(Context& ctx, const Attempt& attempt, const Decision& decision);
  void PatchPodCondition(Context& ctx, core::v1::Pod pod, const core::v1::PodCondition& condition,
                         const std::string& nominated);
  void Submit(std::function<void()> work);
  void Record(const Attempt& attempt, EventKind kind, std::string_view reason,
              std::string_view action, const std::string& note);

  const SchedulerOptions options_;
  Client& client_;
  Clock& clock_;
  const std::unique_ptr<WaitingPods> waiting_;
  const std::map<std::string, std::unique_ptr<Profile>> profiles_;  // by scheduler name
  Informer<core::v1::Pod> pods_;
  Informer<core::v1::Node> nodes_;
  Lister<core::v1::Pod> pod_lister_;

  Metrics metrics_;
  SchedulerCache cache_;
  SchedulingQueue queue_;
  std::vector<MetricHandle> gauges_;

  // Used by the scheduling thread only.
  Snapshot snapshot_;
  Cycle cycle_;

  // Recorders by scheduler name. There are several, because each has a limited buffer and sends one
  // event at a time. All events of a Pod use the same recorder.
  std::map<std::string, std::vector<std::unique_ptr<EventRecorder>>> events_;
  std::optional<WorkerPool> writers_;
};

// Adds a scheduler that `manager` runs while it is the leader.
Status AddScheduler(Manager& manager, const SchedulerOptions& options = {});

}  // namespace cox::scheduler

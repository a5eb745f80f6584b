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

// Gives Pods without a node to one, as kube-scheduler does.
//
//   informers ──▶ queue ──Pop──▶ cycle: filter, score, choose ──assume──▶ binding (asynchronous)
//       └───────▶ cache ──▶ snapshot ──┘                                     │ failed: forget,
//                   ▲                                                        │ back to the queue
//                   └────────────────────── assumed Pods ◀───────────────────┘
//
// One thread decides, Pod after Pod; writes are done by others and never waited for. What it knows
// comes from the informers of Pods and Nodes alone, so it can be started anew at any moment.
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
  // BadRequest: options that make no sense.
  static Result<std::unique_ptr<Scheduler>> Create(const Parts& parts, SchedulerOptions options);
  ~Scheduler();

  // Until `ctx` stops; bindings that are under way are waited for.
  Status Run(Context& ctx);

  // Use Create.
  Scheduler(const Parts& parts, SchedulerOptions options, std::unique_ptr<WaitingPods> waiting,
            std::map<std::string, std::unique_ptr<Profile>> profiles);

 private:
  QueuePlugins MakeQueuePlugins() const;
  void AddGauges(MetricsRegistry& registry);

  // Informers; event_handlers.cc
  void OnPod(const Delta& delta);
  void OnPodGone(const core::v1::Pod& pod);
  void OnAssignedPod(const std::shared_ptr<const core::v1::Pod>& before, PodInfoPtr pod);
  void OnNode(const Delta& delta);

  // One Pod; schedule_one.cc
  struct Attempt {
    QueuedPodPtr pod;
    const Profile* profile;
    Clock::SteadyTime begun;
    std::string node;
    CycleState state;  // of Reserve to PostBind
  };
  void ScheduleOne(Context& ctx, const QueuedPodPtr& pod);
  void Bind(Context& ctx, Attempt& attempt);
  void Reject(Context& ctx, Attempt& attempt, const Verdict& verdict);
  Verdict TryBind(Context& ctx, Attempt& attempt);
  void Undo(Attempt& attempt);
  void Fail(Context& ctx, const Attempt& attempt, const Decision& decision);
  void TellRefusal(Context& ctx, core::v1::Pod pod, const core::v1::PodCondition& condition,
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

  // Of the scheduling thread.
  Snapshot snapshot_;
  Cycle cycle_;

  // By scheduler name; several, as one holds only so many events that wait, and sends one at a
  // time. A Pod's are all of one.
  std::map<std::string, std::vector<std::unique_ptr<EventRecorder>>> events_;
  std::optional<WorkerPool> writers_;
};

// Has `manager` run a scheduler, while it leads.
Status AddScheduler(Manager& manager, const SchedulerOptions& options = {});

}  // namespace cox::scheduler

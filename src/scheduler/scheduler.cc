// SPDX-License-Identifier: Apache-2.0
#include "scheduler/scheduler.h"

#include <utility>

#include "base/strings.h"
#include "scheduler/resource_metrics.h"

namespace cox::scheduler {
namespace {

// Minimum interval between checks for expired assumed Pods.
constexpr std::chrono::seconds kCleanPeriod{1};
// Event recorders per profile: together they buffer the events of 8,000 Pods.
constexpr size_t kRecorders = 8;

uint64_t SeedOf(const SchedulerOptions& options, const Clock& clock) {
  return options.seed.value_or(static_cast<uint64_t>(clock.Now().time_since_epoch().count()));
}

}  // namespace

Result<std::unique_ptr<Scheduler>> Scheduler::Create(const Parts& parts, SchedulerOptions options) {
  auto waiting = std::make_unique<WaitingPods>(parts.clock);
  const PluginHandle handle{.client = &parts.client, .waiting = waiting.get()};
  std::map<std::string, std::unique_ptr<Profile>> profiles;
  for (const ProfileOptions& wanted : options.profiles) {
    COX_ASSIGN_OR_RETURN(std::unique_ptr<Profile> profile, Profile::Create(wanted, handle));
    if (!profiles.emplace(wanted.scheduler_name, std::move(profile)).second) {
      return Status::BadRequest("there are two profiles " + Quote(wanted.scheduler_name));
    }
  }
  if (profiles.empty()) return Status::BadRequest("a scheduler needs a profile");
  return std::make_unique<Scheduler>(parts, std::move(options), std::move(waiting),
                                     std::move(profiles));
}

Scheduler::Scheduler(const Parts& parts, SchedulerOptions options,
                     std::unique_ptr<WaitingPods> waiting,
                     std::map<std::string, std::unique_ptr<Profile>> profiles)
    : options_(std::move(options)),
      client_(parts.client),
      clock_(parts.clock),
      waiting_(std::move(waiting)),
      profiles_(std::move(profiles)),
      pods_(parts.cache.InformerOf<core::v1::Pod>()),
      nodes_(parts.cache.InformerOf<core::v1::Node>()),
      pod_lister_(parts.cache.ListerOf<core::v1::Pod>()),
      metrics_(parts.metrics),
      cache_(clock_, options_.assumed_pod_expiry),
      queue_(clock_, MakeQueuePlugins(), options_.queue, &metrics_.incoming()),
      cycle_(SeedOf(options_, clock_), &metrics_) {
  AddGauges(parts.metrics);
}

Scheduler::~Scheduler() = default;

QueuePlugins Scheduler::MakeQueuePlugins() const {
  QueuePlugins plugins;
  plugins.sort = &profiles_.begin()->second->queue_sort();
  plugins.pre_enqueue = [this](const PodInfo& pod) {
    const auto profile = profiles_.find(pod.pod->spec.schedulerName);
    return profile == profiles_.end() ? PluginStatus() : profile->second->RunPreEnqueue(pod);
  };
  for (const auto& [name, profile] : profiles_) plugins.events[name] = profile->Events();
  return plugins;
}

void Scheduler::AddGauges(MetricsRegistry& registry) {
  gauges_.push_back(registry.AddGaugeCallback(
      {.name = "scheduler_pending_pods",
       .help = "Number of pending pods, by the queue type. 'active' means number of pods in "
               "activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number "
               "of pods in unschedulablePods that the scheduler attempted to schedule and failed; "
               "'gated' is the number of unschedulable pods that the scheduler never attempted to "
               "schedule because they are gated.",
       .stability = Stability::kStable},
      {"queue"}, [this](const EmitSample& emit) {
        const SchedulingQueue::Sizes sizes = queue_.sizes();
        emit({"active"}, static_cast<double>(sizes.active));
        emit({"backoff"}, static_cast<double>(sizes.backoff));
        emit({"unschedulable"}, static_cast<double>(sizes.unschedulable));
        emit({"gated"}, static_cast<double>(sizes.gated));
      }));
  gauges_.push_back(registry.AddGaugeCallback(
      {.name = "scheduler_unschedulable_pods",
       .help = "The number of unschedulable pods broken down by plugin name. A pod will increment "
               "the gauge for all plugins that caused it to not schedule and so this metric have "
               "meaning only when broken down by plugin.",
       .stability = Stability::kBeta},
      {"plugin", "profile"}, [this](const EmitSample& emit) {
        for (const auto& [who, count] : queue_.CountUnschedulable()) {
          emit({who.second, who.first}, static_cast<double>(count));
        }
      }));
  gauges_.push_back(registry.AddGaugeCallback(
      {.name = "scheduler_cache_size",
       .help = "Number of nodes, pods, and assumed (bound) pods in the scheduler cache."},
      {"type"}, [this](const EmitSample& emit) {
        const SchedulerCache::Sizes sizes = cache_.sizes();
        emit({"nodes"}, static_cast<double>(sizes.nodes));
        emit({"pods"}, static_cast<double>(sizes.pods));
        emit({"assumed_pods"}, static_cast<double>(sizes.assumed));
      }));
}

Status Scheduler::Run(Context& ctx) {
  for (const Status& synced : {nodes_.WaitSynced(ctx), pods_.WaitSynced(ctx)}) {
    if (!synced.ok()) return ctx.Done() ? Status() : synced;
  }
  for (const auto& [name, profile] : profiles_) {
    for (size_t i = 0; i < kRecorders; ++i) {
      events_[name].push_back(
          EventRecorder::Create(ctx, client_, {.controller = name, .instance = {}}));
    }
  }
  writers_.emplace(ctx,
                   WorkerPool::Options{.name = "binding", .max_threads = options_.max_bindings});
  // Nodes first, so that Pods are not rejected because nodes are not in the cache yet.
  const InformerHandle nodes = nodes_.shared().AddHandler([this](const Delta& d) { OnNode(d); });
  const InformerHandle pods = pods_.shared().AddHandler([this](const Delta& d) { OnPod(d); });
  // AddHandler has called the handler for all objects, unless another thread is delivering events:
  // then that thread is about to call it.
  for (const InformerHandle* handle : {&nodes, &pods}) {
    const Status synced = handle->WaitForSync(ctx);
    if (!synced.ok()) return ctx.Done() ? Status() : synced;
  }
  COX_INFO(ctx.log(), "Started scheduling", {"nodes", cache_.sizes().nodes},
           {"pods", cache_.sizes().pods});
  Clock::SteadyTime cleaned = clock_.Monotonic();
  while (true) {
    const Result<QueuedPodPtr> pod = queue_.Pop(ctx);
    if (!pod.ok()) break;
    if (options_.assumed_pod_expiry.count() > 0 && clock_.Monotonic() - cleaned > kCleanPeriod) {
      (void)cache_.DropExpired();
      cleaned = clock_.Monotonic();
    }
    ScheduleOne(ctx, *pod);
  }
  waiting_->Clear();
  writers_->Stop();
  return {};
}

Status AddScheduler(Manager& manager, const SchedulerOptions& options) {
  COX_ASSIGN_OR_RETURN(std::unique_ptr<Scheduler> created,
                       Scheduler::Create({.client = manager.client(),
                                          .cache = manager.cache(),
                                          .metrics = manager.metrics(),
                                          .clock = manager.context().clock()},
                                         options));
  const std::shared_ptr<Scheduler> scheduler = std::move(created);
  manager.AddMetricsPage("/metrics/resources", [pods = manager.cache().ListerOf<core::v1::Pod>()] {
    PodResourceMetrics metrics;
    pods.ForEach([&metrics](const core::v1::Pod& pod) {
      metrics.Add(pod);
      return true;
    });
    return metrics.Take();
  });
  return manager.Add("scheduler", [scheduler](Context& ctx) { return scheduler->Run(ctx); });
}

}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include "sdk/queue/queue_metrics.h"

#include <map>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace cox::sdk {
namespace {

constexpr size_t kMostPriorities = 25;

// Callback metrics have one callback per registry, but a registry may have many queues. This table
// contains the queues of all registries: the first queue of a registry registers the callbacks, the
// last one removes them.
class RunningTable {
 public:
  static RunningTable& Get() {
    static RunningTable table;
    return table;
  }

  void Add(MetricsRegistry& registry, const QueueMetrics* queue, std::string name,
           std::function<QueueMetrics::Running()> read) {
    MutexLock changing(changing_);
    {
      MutexLock lock(mu_);
      queues_[&registry].emplace(queue, Queue{std::move(name), std::move(read)});
      if (handles_.contains(&registry)) return;
    }
    // Without mu_: a concurrent scrape holds the registry's lock and waits for mu_.
    Handles handles = {
        registry.AddGaugeCallback(
            {.name = "workqueue_unfinished_work_seconds",
             .help = "Seconds of work that has begun and has not ended. A value that keeps growing "
                     "means stuck workers: as many as it grows by per second.",
             .stability = Stability::kNone},
            {"name", "controller"},
            [this, &registry](const EmitSample& emit) {
              Emit(registry, emit, &QueueMetrics::Running::total);
            }),
        registry.AddGaugeCallback(
            {.name = "workqueue_longest_running_processor_seconds",
             .help = "Seconds that the piece of work which began first is running.",
             .stability = Stability::kNone},
            {"name", "controller"}, [this, &registry](const EmitSample& emit) {
              Emit(registry, emit, &QueueMetrics::Running::longest);
            })};
    MutexLock lock(mu_);
    handles_.emplace(&registry, std::move(handles));
  }

  void Remove(MetricsRegistry& registry, const QueueMetrics* queue) {
    MutexLock changing(changing_);
    Handles dropped;  // destroyed without mu_, see Add
    MutexLock lock(mu_);
    const auto queues = queues_.find(&registry);
    queues->second.erase(queue);
    if (!queues->second.empty()) return;
    queues_.erase(queues);
    const auto handles = handles_.find(&registry);
    dropped = std::move(handles->second);
    handles_.erase(handles);
    lock.Unlock();
    dropped = {};
  }

 private:
  struct Queue {
    std::string name;
    std::function<QueueMetrics::Running()> read;
  };
  struct Handles {
    MetricHandle unfinished, longest;
  };

  void Emit(MetricsRegistry& registry, const EmitSample& emit,
            double QueueMetrics::Running::*what) {
    MutexLock lock(mu_);
    const auto queues = queues_.find(&registry);
    if (queues == queues_.end()) return;
    for (const auto& [id, queue] : queues->second) {
      emit({queue.name, queue.name}, queue.read().*what);
    }
  }

  Mutex changing_ COX_ACQUIRED_BEFORE(mu_);  // serializes Add and Remove, including registration
  Mutex mu_;
  std::map<MetricsRegistry*, std::map<const QueueMetrics*, Queue>> queues_ COX_GUARDED_BY(mu_);
  std::map<MetricsRegistry*, Handles> handles_ COX_GUARDED_BY(mu_);
};

Counter& AddCounter(MetricsRegistry& registry, std::string metric, std::string help,
                    const std::string& name) {
  return registry
      .AddCounterVec(
          {.name = std::move(metric), .help = std::move(help), .stability = Stability::kNone},
          {"name", "controller"})
      .With({name, name});
}

Histogram& AddHistogram(MetricsRegistry& registry, std::string metric, std::string help,
                        const std::string& name) {
  return registry
      .AddHistogramVec(
          {.name = std::move(metric), .help = std::move(help), .stability = Stability::kNone},
          ExponentialBuckets(10e-9, 10, 12), {"name", "controller"})
      .With({name, name});
}

}  // namespace

QueueMetrics::QueueMetrics(MetricsRegistry& registry, std::string name,
                           std::function<Running()> running)
    : adds(AddCounter(registry, "workqueue_adds_total", "Keys that were added.", name)),
      retries(AddCounter(registry, "workqueue_retries_total",
                         "Keys that were added to be handed out later.", name)),
      waited(AddHistogram(registry, "workqueue_queue_duration_seconds",
                          "Seconds that keys were ready before they were handed out.", name)),
      worked(AddHistogram(registry, "workqueue_work_duration_seconds",
                          "Seconds that work on keys took.", name)),
      registry_(registry),
      name_(std::move(name)),
      depth_(registry.AddGaugeVec({.name = "workqueue_depth",
                                   .help = "Keys that are ready to be handed out, by priority.",
                                   .stability = Stability::kNone},
                                  {"name", "controller", "priority"})) {
  RunningTable::Get().Add(registry_, this, name_, std::move(running));
}

QueueMetrics::~QueueMetrics() { RunningTable::Get().Remove(registry_, this); }

Gauge& QueueMetrics::Depth(int priority) {
  if (priorities_.contains(priority) || priorities_.size() < kMostPriorities) {
    priorities_.insert(priority);
    return depth_.With({name_, name_, std::to_string(priority)});
  }
  return depth_.With({name_, name_, "exceeded_cardinality_limit"});
}

}  // namespace cox::sdk

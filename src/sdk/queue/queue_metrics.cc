// SPDX-License-Identifier: Apache-2.0
#include "sdk/queue/queue_metrics.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace cox::sdk {
namespace {

constexpr size_t kMostPriorities = 25;

bool IsComponent(const MetricsRegistry& registry) {
  return registry.style() == MetricStyle::kComponent;
}

MetricOptions Named(const MetricsRegistry& registry, std::string name, std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .stability = IsComponent(registry) ? Stability::kBeta : Stability::kNone};
}

// Components have the labels of client-go, operators those of controller-runtime.
std::vector<std::string> LabelsIn(const MetricsRegistry& registry) {
  if (IsComponent(registry)) return {"name"};
  return {"name", "controller"};
}

// Components have the buckets of upstream's components, operators those of controller-runtime.
std::vector<double> BucketsIn(const MetricsRegistry& registry) {
  return ExponentialBuckets(1e-8, 10, IsComponent(registry) ? 10 : 12);
}

template <class Vec>
auto& SeriesOf(const MetricsRegistry& registry, Vec& metric, const std::string& name) {
  return IsComponent(registry) ? metric.With({name}) : metric.With({name, name});
}

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
    const std::vector<std::string> labels = LabelsIn(registry);
    Handles handles = {
        registry.AddGaugeCallback(
            Named(registry, "workqueue_unfinished_work_seconds",
                  "Seconds of work that has begun and has not ended. A value that keeps growing "
                  "means stuck workers: as many as it grows by per second."),
            labels,
            [this, &registry](const EmitSample& emit) {
              Emit(registry, emit, &QueueMetrics::Running::total);
            }),
        registry.AddGaugeCallback(Named(registry, "workqueue_longest_running_processor_seconds",
                                        "Seconds that the longest running work has taken so far."),
                                  labels, [this, &registry](const EmitSample& emit) {
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
      const double value = queue.read().*what;
      if (IsComponent(registry)) {
        emit({queue.name}, value);
      } else {
        emit({queue.name, queue.name}, value);
      }
    }
  }

  Mutex changing_ COX_ACQUIRED_BEFORE(mu_);  // serializes Add and Remove, including registration
  Mutex mu_;
  std::map<MetricsRegistry*, std::map<const QueueMetrics*, Queue>> queues_ COX_GUARDED_BY(mu_);
  std::map<MetricsRegistry*, Handles> handles_ COX_GUARDED_BY(mu_);
};

Counter& AddCounter(MetricsRegistry& registry, std::string metric, std::string help,
                    const std::string& name) {
  return SeriesOf(registry,
                  registry.AddCounterVec(Named(registry, std::move(metric), std::move(help)),
                                         LabelsIn(registry)),
                  name);
}

Histogram& AddHistogram(MetricsRegistry& registry, std::string metric, std::string help,
                        const std::string& name) {
  return SeriesOf(registry,
                  registry.AddHistogramVec(Named(registry, std::move(metric), std::move(help)),
                                           BucketsIn(registry), LabelsIn(registry)),
                  name);
}

GaugeVec& AddDepth(MetricsRegistry& registry) {
  std::vector<std::string> labels = LabelsIn(registry);
  if (!IsComponent(registry)) labels.emplace_back("priority");
  return registry.AddGaugeVec(
      Named(registry, "workqueue_depth", "Keys that are ready to be handed out."), labels);
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
      depth_(AddDepth(registry)) {
  RunningTable::Get().Add(registry_, this, name_, std::move(running));
}

QueueMetrics::~QueueMetrics() { RunningTable::Get().Remove(registry_, this); }

Gauge& QueueMetrics::Depth(int priority) {
  if (IsComponent(registry_)) return depth_.With({name_});
  if (priorities_.contains(priority) || priorities_.size() < kMostPriorities) {
    priorities_.insert(priority);
    return depth_.With({name_, name_, std::to_string(priority)});
  }
  return depth_.With({name_, name_, "exceeded_cardinality_limit"});
}

}  // namespace cox::sdk

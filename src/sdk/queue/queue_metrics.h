// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/metrics.h"

namespace cox::sdk {

// The metrics of one work queue, by the names and labels that dashboards of client-go and
// controller-runtime ask for: workqueue_*.
//
// Threads: Depth() by one at a time.
// Ownership: the registry outlives it.
class QueueMetrics {
 public:
  // What is being worked on, in seconds.
  struct Running {
    double total = 0;
    double longest = 0;
  };

  // `running` is asked when metrics are read, until this object is destroyed.
  QueueMetrics(MetricsRegistry& registry, std::string name, std::function<Running()> running);
  ~QueueMetrics();
  QueueMetrics(const QueueMetrics&) = delete;
  QueueMetrics& operator=(const QueueMetrics&) = delete;

  // Queues use few priorities; those beyond what is sensible share a series, as upstream's do.
  Gauge& Depth(int priority);

  Counter& adds;
  Counter& retries;
  Histogram& waited;
  Histogram& worked;

 private:
  MetricsRegistry& registry_;
  const std::string name_;
  GaugeVec& depth_;
  std::set<int> priorities_;
};

}  // namespace cox::sdk

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/metrics.h"

namespace cox::sdk {

// The metrics of one work queue, workqueue_*: with the labels of client-go in the registry of a
// component, with those of controller-runtime in the registry of an operator.
//
// Threads: Depth() may be called by one thread at a time.
// Ownership: the registry must outlive this object.
class QueueMetrics {
 public:
  // Duration of the work in progress, in seconds.
  struct Running {
    double total = 0;
    double longest = 0;
  };

  // `running` is called when metrics are read, until this object is destroyed.
  QueueMetrics(MetricsRegistry& registry, std::string name, std::function<Running()> running);
  ~QueueMetrics();
  QueueMetrics(const QueueMetrics&) = delete;
  QueueMetrics& operator=(const QueueMetrics&) = delete;

  // Queues use few priorities; beyond a limit, further priorities share a series, as upstream.
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

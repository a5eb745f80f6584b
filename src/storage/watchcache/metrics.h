// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/metrics.h"

namespace cox::storage {

// The metrics of all watch caches of a server, with upstream's names. Created once per registry and
// passed to every cache.
// Threads: all may be used concurrently. Ownership: the registry outlives it.
struct WatchCacheMetrics {
  explicit WatchCacheMetrics(MetricsRegistry& registry);

  // The metrics of one resource.
  struct Series {
    Series(WatchCacheMetrics& all, std::string_view group, std::string_view resource);

    Counter& received;    // events received from the store
    Counter& stored;      // the same, under the name that storage has upstream
    Counter& dispatched;  // changes added for watchers
    Counter& initial;     // objects listed at the start
    Counter& initializations;
    Counter& terminated;  // watchers that expired because they were too slow
    Counter& capacity_up;
    Counter& capacity_down;
    Counter& consistent_ok;
    Counter& consistent_fallback;
    Counter& check_ok;
    Counter& check_failed;
    Counter& check_error;
    Counter& repeated;      // anomalies: duplicate events, which are ignored
    Counter& inconsistent;  // anomalies: inconsistent events, which cause a new list
    Gauge& capacity;
    Gauge& revision;
    Gauge& objects;
    Gauge& stored_objects;
    Gauge& bytes;
    Histogram& read_wait;
  };

  CounterVec& received;
  CounterVec& stored;
  CounterVec& dispatched;
  CounterVec& initial;
  CounterVec& initializations;
  CounterVec& terminated;
  CounterVec& capacity_up;
  CounterVec& capacity_down;
  CounterVec& consistent_reads;
  CounterVec& checks;
  CounterVec& anomalies;
  GaugeVec& capacity;
  GaugeVec& revision;
  GaugeVec& objects;
  GaugeVec& stored_objects;
  GaugeVec& bytes;
  HistogramVec& read_wait;
  // For lists served from snapshots. Labels: group, resource, index ("" for none).
  CounterVec& lists;
  CounterVec& list_fetched;
  CounterVec& list_returned;  // group, resource
};

}  // namespace cox::storage

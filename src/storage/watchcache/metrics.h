// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/metrics.h"

namespace cox::storage {

// The metrics of all watch caches of a server, with upstream's names. Made once per registry and
// given to every cache.
// Threads: all may be used concurrently. Ownership: the registry outlives it.
struct WatchCacheMetrics {
  explicit WatchCacheMetrics(MetricsRegistry& registry);

  // Of one resource: what a cache keeps at hand.
  struct Series {
    Series(WatchCacheMetrics& all, std::string_view group, std::string_view resource);

    Counter& received;    // events from the store
    Counter& dispatched;  // changes added for watchers
    Counter& initial;     // objects listed at the start
    Counter& initializations;
    Counter& terminated;  // watchers that fell behind
    Counter& capacity_up;
    Counter& capacity_down;
    Counter& consistent_ok;
    Counter& consistent_fallback;
    Counter& check_ok;
    Counter& check_failed;
    Counter& check_error;
    Counter& repeated;      // anomalies: events seen before, which are ignored
    Counter& inconsistent;  // anomalies: events that do not fit, which lead to a new list
    Gauge& capacity;
    Gauge& revision;
    Gauge& objects;
    Gauge& stored_objects;
    Gauge& bytes;
    Histogram& read_wait;
  };

  CounterVec& received;
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
  // For those who answer lists from snapshots: group, resource, index ("" for none).
  CounterVec& lists;
  CounterVec& list_fetched;
  CounterVec& list_returned;  // group, resource
};

}  // namespace cox::storage

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/metrics.h"

namespace cox::dns {

// Metrics with CoreDNS' names, so that its dashboards work.
struct Metrics {
  explicit Metrics(MetricsRegistry& registry)
      : requests(registry.AddCounterVec({.name = "coredns_dns_requests_total",
                                         .help = "Counter of DNS requests made per zone, protocol "
                                                 "and family.",
                                         .stability = Stability::kNone},
                                        {"zone", "proto", "type"})),
        responses(registry.AddCounterVec({.name = "coredns_dns_responses_total",
                                          .help = "Counter of response status codes.",
                                          .stability = Stability::kNone},
                                         {"zone", "rcode"})),
        seconds(registry.AddHistogramVec({.name = "coredns_dns_request_duration_seconds",
                                          .help = "Histogram of the time (in seconds) each request "
                                                  "took per zone.",
                                          .stability = Stability::kNone},
                                         ExponentialBuckets(0.00025, 2, 16), {"zone"})),
        cache_hits(registry.AddCounter({.name = "coredns_cache_hits_total",
                                        .help = "The count of cache hits.",
                                        .stability = Stability::kNone})),
        cache_misses(registry.AddCounter({.name = "coredns_cache_misses_total",
                                          .help = "The count of cache misses.",
                                          .stability = Stability::kNone})),
        forward_failures(registry.AddCounter({.name = "coredns_forward_healthcheck_broken_total",
                                              .help = "Counter of queries that no upstream "
                                                      "answered.",
                                              .stability = Stability::kNone})),
        forward_rejects(registry.AddCounter({.name = "coredns_forward_max_concurrent_rejects_total",
                                             .help = "Counter of queries rejected because the "
                                                     "concurrent queries were at maximum.",
                                             .stability = Stability::kNone})) {}

  CounterVec& requests;
  CounterVec& responses;
  HistogramVec& seconds;
  Counter& cache_hits;
  Counter& cache_misses;
  Counter& forward_failures;
  Counter& forward_rejects;
};

}  // namespace cox::dns

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/metrics.h"
#include "net/http.h"

namespace cox::proxy {

// kube-proxy's metrics, with upstream's names.
struct Metrics {
  explicit Metrics(MetricsRegistry& registry)
      : sync_seconds(
            registry.AddHistogramVec({.name = "kubeproxy_sync_proxy_rules_duration_seconds",
                                      .help = "SyncProxyRules latency in seconds"},
                                     ExponentialBuckets(0.001, 2, 15), {"ip_family"})),
        full_sync_seconds(
            registry.AddHistogramVec({.name = "kubeproxy_sync_full_proxy_rules_duration_seconds",
                                      .help = "SyncProxyRules latency in seconds for full resyncs"},
                                     ExponentialBuckets(0.001, 2, 15), {"ip_family"})),
        partial_sync_seconds(registry.AddHistogramVec(
            {.name = "kubeproxy_sync_partial_proxy_rules_duration_seconds",
             .help = "SyncProxyRules latency in seconds for partial resyncs"},
            ExponentialBuckets(0.001, 2, 15), {"ip_family"})),
        last_sync(
            registry.AddGaugeVec({.name = "kubeproxy_sync_proxy_rules_last_timestamp_seconds",
                                  .help = "The last time proxy rules were successfully synced"},
                                 {"ip_family"})),
        sync_failures(registry.AddCounterVec(
            {.name = "kubeproxy_sync_proxy_rules_nftables_sync_failures_total",
             .help = "Cumulative proxy nftables sync failures"},
            {"ip_family"})),
        service_changes(
            registry.AddCounter({.name = "kubeproxy_sync_proxy_rules_service_changes_total",
                                 .help = "Cumulative proxy rules Service changes"})),
        endpoint_changes(
            registry.AddCounter({.name = "kubeproxy_sync_proxy_rules_endpoint_changes_total",
                                 .help = "Cumulative proxy rules Endpoint changes"})),
        healthz(registry.AddCounterVec({.name = "kubeproxy_proxy_healthz_total",
                                        .help = "Cumulative proxy healthz HTTP status"},
                                       {"code"})),
        livez(registry.AddCounterVec(
            {.name = "kubeproxy_proxy_livez_total", .help = "Cumulative proxy livez HTTP status"},
            {"code"})) {}

  HistogramVec& sync_seconds;
  HistogramVec& full_sync_seconds;
  HistogramVec& partial_sync_seconds;
  GaugeVec& last_sync;
  CounterVec& sync_failures;
  Counter& service_changes;
  Counter& endpoint_changes;
  CounterVec& healthz;
  CounterVec& livez;
};

// Responds to a request that the metrics address received. Its paths are /metrics, /proxyMode and
// /healthz.
net::Response RespondWithMetrics(const MetricsRegistry& registry, const net::Request& request);

}  // namespace cox::proxy

// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/metrics.h"

#include <string>
#include <vector>

namespace cox::simulate {
namespace {

constexpr std::string_view kRequestNames[kRequestKinds] = {"register", "node_status", "lease",
                                                           "pod_status", "pod_delete"};
constexpr std::string_view kWatchNames[kWatchKinds] = {"pods",           "nodes",      "services",
                                                       "endpointslices", "configmaps", "secrets"};

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

// 1 ms to 65 s.
std::vector<double> Buckets() { return ExponentialBuckets(0.001, 2, 17); }

MetricOptions Named(std::string_view name, std::string help) {
  return {.name = "coxswain_simulate_" + std::string(name), .help = std::move(help)};
}

}  // namespace

PerNodeMetrics::PerNodeMetrics(MetricsRegistry& registry)
    : registered(registry.AddGauge(Named("nodes_registered", "Nodes that have registered."))),
      ready(registry.AddGauge(
          Named("nodes_ready", "Nodes whose own watch shows the condition Ready=True."))),
      became_not_ready(registry.AddCounter(
          Named("nodes_became_not_ready_total", "Changes of Ready from True to another value."))),
      pods(registry.AddGauge(Named("pods", "Pods that are bound to the nodes."))),
      ready_pods(registry.AddGauge(
          Named("pods_ready", "Pods whose watch shows the condition Ready=True."))),
      renewal_failures(registry.AddCounter(
          Named("lease_renewal_failures_total", "Attempts to renew a Lease that failed."))),
      requests_(registry.AddCounterVec(
          Named("requests_total", "Requests by purpose and HTTP status; watches are not included."),
          {"request", "code"})),
      renewals_(registry.AddCounter(Named("lease_renewals_total", "Renewals of Leases."))),
      late_renewals_(registry.AddCounter(
          Named("lease_renewals_late_total",
                "Renewals that completed later after the previous one than the Lease lasts."))),
      renewal_delay_(registry.AddHistogram(
          Named("lease_renewal_delay_seconds", "Time from when a renewal is due to its response."),
          Buckets())),
      longest_delay_gauge_(registry.AddGaugeCallback(
          Named("lease_renewal_delay_max_seconds", "The longest delay of a renewal so far."), {},
          [this](const EmitSample& emit) {
            emit({}, static_cast<double>(longest_delay_.load(std::memory_order_relaxed)) / 1e9);
          })) {
  HistogramVec& durations = registry.AddHistogramVec(
      Named("request_duration_seconds", "Time from a request to its response."), Buckets(),
      {"request"});
  for (size_t i = 0; i < kRequestKinds; ++i) durations_[i] = &durations.With({kRequestNames[i]});
  const std::vector<std::string> by = {"resource"};
  GaugeVec& open = registry.AddGaugeVec(Named("watches", "Watches that are open."), by);
  CounterVec& events = registry.AddCounterVec(
      Named("watch_events_total", "Events of watches, without bookmarks."), by);
  CounterVec& bytes =
      registry.AddCounterVec(Named("watch_received_bytes_total", "Bytes of watch responses."), by);
  CounterVec& restarts = registry.AddCounterVec(
      Named("watch_restarts_total", "Watches resumed from their last resource version."), by);
  CounterVec& relists = registry.AddCounterVec(
      Named("watch_relists_total", "Watches repeated from the beginning."), by);
  CounterVec& expired =
      registry.AddCounterVec(Named("watch_expired_total",
                                   "Watches that ended with 410, because the resource version is "
                                   "too old."),
                             by);
  CounterVec& failures = registry.AddCounterVec(
      Named("watch_failures_total", "Watches that were rejected or whose connection broke."), by);
  for (size_t i = 0; i < kWatchKinds; ++i) {
    const std::string_view name = kWatchNames[i];
    watches_[i] = {.open = &open.With({name}),
                   .events = &events.With({name}),
                   .bytes = &bytes.With({name}),
                   .restarts = &restarts.With({name}),
                   .relists = &relists.With({name}),
                   .expired = &expired.With({name}),
                   .failures = &failures.With({name})};
  }
}

void PerNodeMetrics::CountRequest(RequestKind kind, std::string_view code, Clock::Duration took) {
  const auto index = static_cast<size_t>(kind);
  requests_.With({kRequestNames[index], code}).Inc();
  durations_[index]->Observe(Seconds(took));
}

void PerNodeMetrics::CountRenewal(Clock::Duration delay, Clock::Duration since,
                                  Clock::Duration lease_duration) {
  renewals_.Inc();
  renewal_delay_.Observe(Seconds(delay));
  if (since > lease_duration) late_renewals_.Inc();
  int64_t longest = longest_delay_.load(std::memory_order_relaxed);
  while (delay.count() > longest &&
         !longest_delay_.compare_exchange_weak(longest, delay.count(), std::memory_order_relaxed)) {
  }
}

}  // namespace cox::simulate

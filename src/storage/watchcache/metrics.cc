// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/metrics.h"

#include <string>
#include <vector>

namespace cox::storage {
namespace {

const std::vector<std::string>& Resource() {
  static const std::vector<std::string> labels{"group", "resource"};
  return labels;
}

}  // namespace

WatchCacheMetrics::WatchCacheMetrics(MetricsRegistry& registry)
    : received(registry.AddCounterVec({"apiserver_watch_cache_events_received_total",
                                       "Events that watch caches received from the store."},
                                      Resource())),
      stored(
          registry.AddCounterVec({"apiserver_storage_events_received_total",
                                  "Events received from the store, by resource.", Stability::kBeta},
                                 Resource())),
      dispatched(registry.AddCounterVec({"apiserver_watch_cache_events_dispatched_total",
                                         "Changes that watch caches offered to watchers."},
                                        Resource())),
      initial(registry.AddCounterVec(
          {"apiserver_init_events_total", "Objects that watch caches read when they began."},
          Resource())),
      initializations(registry.AddCounterVec({"apiserver_watch_cache_initializations_total",
                                              "How often watch caches listed the store."},
                                             Resource())),
      terminated(registry.AddCounterVec({"apiserver_terminated_watchers_total",
                                         "Watchers that ended because they were too far behind."},
                                        Resource())),
      capacity_up(registry.AddCounterVec(
          {"watch_cache_capacity_increase_total", "How often the ring of changes grew."},
          Resource())),
      capacity_down(registry.AddCounterVec(
          {"watch_cache_capacity_decrease_total", "How often the ring of changes shrank."},
          Resource())),
      consistent_reads(registry.AddCounterVec(
          {"apiserver_watch_cache_consistent_read_total",
           "Consistent reads asked of watch caches, by whether the caller has to read the store."},
          {"group", "resource", "success", "fallback"})),
      checks(registry.AddCounterVec({"apiserver_storage_consistency_checks_total",
                                     "Comparisons of watch caches with the store, by outcome."},
                                    {"group", "resource", "status"})),
      anomalies(registry.AddCounterVec(
          {"apiserver_watch_cache_anomalies_total",
           "Events of the store's watch that do not fit what was there before, by what they were."},
          {"group", "resource", "type"})),
      capacity(registry.AddGaugeVec(
          {"watch_cache_capacity", "Changes that the ring of a watch cache can hold."},
          Resource())),
      revision(registry.AddGaugeVec({"apiserver_watch_cache_resource_version",
                                     "The resource version that a watch cache has reached."},
                                    Resource())),
      objects(registry.AddGaugeVec({"apiserver_resource_objects", "Objects stored, by resource."},
                                   Resource())),
      stored_objects(registry.AddGaugeVec(
          {"apiserver_storage_objects",
           "[DEPRECATED, consider using apiserver_resource_objects instead] Objects stored, by "
           "kind.",
           Stability::kStable, "1.34.0"},
          {"resource"})),
      bytes(registry.AddGaugeVec(
          {"apiserver_resource_size_estimate_bytes", "Bytes of the objects stored, by resource."},
          Resource())),
      read_wait(registry.AddHistogramVec(
          {"apiserver_watch_cache_read_wait_seconds",
           "How long reads waited for a watch cache to become fresh enough."},
          {0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3},
          Resource())),
      lists(registry.AddCounterVec(
          {"apiserver_cache_list_total", "Lists that watch caches answered."},
          {"group", "resource", "index"})),
      list_fetched(registry.AddCounterVec({"apiserver_cache_list_fetched_objects_total",
                                           "Objects that lists from watch caches looked at."},
                                          {"group", "resource", "index"})),
      list_returned(registry.AddCounterVec({"apiserver_cache_list_returned_objects_total",
                                            "Objects that lists from watch caches returned."},
                                           Resource())) {}

WatchCacheMetrics::Series::Series(WatchCacheMetrics& all, std::string_view group,
                                  std::string_view resource)
    : received(all.received.With({group, resource})),
      stored(all.stored.With({group, resource})),
      dispatched(all.dispatched.With({group, resource})),
      initial(all.initial.With({group, resource})),
      initializations(all.initializations.With({group, resource})),
      terminated(all.terminated.With({group, resource})),
      capacity_up(all.capacity_up.With({group, resource})),
      capacity_down(all.capacity_down.With({group, resource})),
      consistent_ok(all.consistent_reads.With({group, resource, "true", "false"})),
      consistent_fallback(all.consistent_reads.With({group, resource, "false", "true"})),
      check_ok(all.checks.With({group, resource, "success"})),
      check_failed(all.checks.With({group, resource, "failure"})),
      check_error(all.checks.With({group, resource, "error"})),
      repeated(all.anomalies.With({group, resource, "repeated"})),
      inconsistent(all.anomalies.With({group, resource, "inconsistent"})),
      capacity(all.capacity.With({group, resource})),
      revision(all.revision.With({group, resource})),
      objects(all.objects.With({group, resource})),
      stored_objects(all.stored_objects.With(
          {group.empty() ? std::string(resource)
                         : std::string(resource) + "." + std::string(group)})),
      bytes(all.bytes.With({group, resource})),
      read_wait(all.read_wait.With({group, resource})) {}

}  // namespace cox::storage

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "apiserver/filters/fairness/write_lag.h"
#include "apiserver/registry/served/served_set.h"
#include "apiserver/request/call.h"
#include "base/metrics.h"
#include "base/mutex.h"

namespace cox::apiserver {

// The label "scope" of a request: "cluster", "namespace", "resource", or empty for other paths.
std::string_view ScopeOf(const RequestInfo& info);

// Request metrics, with upstream's names and labels:
//   apiserver_request_total, apiserver_request_duration_seconds, apiserver_response_sizes,
//   apiserver_current_inflight_requests, apiserver_longrunning_requests,
//   apiserver_requested_deprecated_apis.
//
// Guarantees: Clients cannot create new label values. Verbs, resources and subresources that are
//   not served, and unknown paths, share the empty value or "other".
// Threads: All methods may be called concurrently. A request with the labels of an earlier one
//   costs two lookups and does not allocate labels.
// Lifetime: Must outlive the calls it follows.
class RequestMetrics {
 public:
  // Reports the writes of objects other than Leases to `lag`, unless it is null.
  RequestMetrics(MetricsRegistry& registry, CurrentServedSet served, WriteLag* lag = nullptr);

  // Measures the call until its response is sent, or until a stream ends.
  // REQUIRES: call.info is set; no other user of Call::set_on_answer.
  void Follow(Call& call);

 private:
  // The labels of the requested resource.
  template <class Text>
  struct Labels {
    Text group, version, resource, subresource;
    auto operator<=>(const Labels&) const = default;
  };
  using Subject = Labels<std::string_view>;
  // The metrics of requests whose labels differ only in the code.
  struct Series {
    Labels<std::string> owned;  // the kind may be removed while its series remain
    Subject subject;            // views into `owned`
    std::string_view verb, scope, dry_run;
    Histogram* duration;
    Histogram* size;                                // null: not measured for this verb
    std::vector<std::pair<int, Counter*>> by_code;  // guarded by mutex_ like the map
  };
  using SeriesKey = std::tuple<Subject, std::string_view, std::string_view, std::string_view>;

  // Empty labels for resources that are not served, so that clients cannot choose label values. The
  // views point into `info`.
  Subject SubjectOf(const RequestInfo& info) const;
  Series& SeriesOf(const Call& call);
  Counter& CounterOf(Series& series, int code);
  void Finish(Series& series, int code, size_t bytes, Clock::Duration took);

  CounterVec& total_;
  HistogramVec& duration_;
  HistogramVec& sizes_;
  GaugeVec& inflight_;
  GaugeVec& long_running_;
  GaugeVec& deprecated_;
  Gauge& reading_;
  Gauge& writing_;
  const CurrentServedSet served_;
  WriteLag* const lag_;
  mutable SharedMutex mutex_;
  std::map<SeriesKey, std::unique_ptr<Series>> series_ COX_GUARDED_BY(mutex_);
};

}  // namespace cox::apiserver

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

#include "apiserver/registry/served/served_set.h"
#include "apiserver/request/call.h"
#include "base/metrics.h"
#include "base/mutex.h"

namespace cox::apiserver {

// Counts and times requests, by upstream's metric names and labels:
//   apiserver_request_total, apiserver_request_duration_seconds, apiserver_response_sizes,
//   apiserver_current_inflight_requests, apiserver_longrunning_requests.
//
// Guarantees: a client cannot make new label values. Verbs, resources and subresources that are not
//   served, and paths that nobody has, share the empty value or "other".
// Threads: all methods may be called concurrently. A request that looks like an earlier one costs
//   two lookups and no allocation of labels.
// Lifetime: outlives the calls it follows.
class RequestMetrics {
 public:
  RequestMetrics(MetricsRegistry& registry, CurrentServedSet served);

  // Follows the call until it is answered, for streams until they end.
  // REQUIRES: call.info is known; nobody else looks at the answer (Call::set_on_answer).
  void Follow(Call& call);

 private:
  // The labels that name what is requested.
  template <class Text>
  struct Labels {
    Text group, version, resource, subresource;
    auto operator<=>(const Labels&) const = default;
  };
  using Subject = Labels<std::string_view>;
  // The series of requests that have all labels but the code in common.
  struct Series {
    Labels<std::string> owned;  // the kind may be removed while its series stay
    Subject subject;            // views into `owned`
    std::string_view verb, scope, dry_run;
    Histogram* duration;
    Histogram* size;                                // null: this verb's answers are not measured
    std::vector<std::pair<int, Counter*>> by_code;  // guarded by mutex_ as the map is
  };
  using SeriesKey = std::tuple<Subject, std::string_view, std::string_view, std::string_view>;

  // Empty labels for what is not served: a client must not choose them. The views are those of
  // `info`.
  Subject SubjectOf(const RequestInfo& info) const;
  Series& SeriesOf(const Call& call);
  Counter& CounterOf(Series& series, int code);
  void Finish(Series& series, int code, size_t bytes, Clock::Duration took);

  CounterVec& total_;
  HistogramVec& duration_;
  HistogramVec& sizes_;
  GaugeVec& inflight_;
  GaugeVec& long_running_;
  Gauge& reading_;
  Gauge& writing_;
  const CurrentServedSet served_;
  mutable SharedMutex mutex_;
  std::map<SeriesKey, std::unique_ptr<Series>> series_ COX_GUARDED_BY(mutex_);
};

}  // namespace cox::apiserver

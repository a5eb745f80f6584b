// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "apiserver/registry/served/served.h"
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
  // `kinds` are borrowed as ServedKind says.
  RequestMetrics(MetricsRegistry& registry, std::span<const ServedKind> kinds);

  // Follows the call until it is answered, for streams until they end.
  // REQUIRES: call.info is known; nobody else looks at the answer (Call::set_on_answer).
  void Follow(Call& call);

 private:
  // What a request is about, as labels say it.
  struct Subject {
    std::string_view group, version, resource, subresource;
    auto operator<=>(const Subject&) const = default;
  };
  // The series of requests that have all labels but the code in common.
  struct Series {
    Subject subject;
    std::string_view verb, scope, dry_run;
    Histogram* duration;
    Histogram* size;                                // null: this verb's answers are not measured
    std::vector<std::pair<int, Counter*>> by_code;  // guarded by mutex_ as the map is
  };
  using SeriesKey = std::tuple<Subject, std::string_view, std::string_view, std::string_view>;

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
  std::vector<Subject> known_;                       // sorted; views into the kinds
  std::vector<std::shared_ptr<const void>> owners_;  // of the kinds that were made at run time
  mutable SharedMutex mutex_;
  std::map<SeriesKey, std::unique_ptr<Series>> series_ COX_GUARDED_BY(mutex_);
};

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/request/user.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"

namespace cox::apiserver {

// Authentication metrics, with upstream's names: authentication_attempts,
// authentication_duration_seconds, authenticated_user_requests and authentication_token_cache_*.
//
// Guarantees: User names are not label values, except for a few that every cluster has.
// Threads: All methods may be called concurrently.
class AuthnMetrics {
 public:
  explicit AuthnMetrics(MetricsRegistry& registry);

  void Attempted(const Result<UserInfo>& user, Clock::Duration took);
  // A lookup in the cache of webhook results. `found`: a cache hit.
  void TokenLookedUp(bool found, Clock::Duration took);
  // Begin and end of a webhook call.
  void FetchBegan();
  void FetchEnded(bool ok);

 private:
  CounterVec& attempts_;
  HistogramVec& duration_;
  CounterVec& users_;
  HistogramVec& cache_duration_;
  CounterVec& cache_requests_;
  CounterVec& cache_fetches_;
  GaugeVec& cache_active_;
  // Resolved once, because every request increments them.
  Counter& success_;
  Counter& failure_;
  Histogram& success_duration_;
  Histogram& failure_duration_;
  Counter& other_user_;
};

}  // namespace cox::apiserver

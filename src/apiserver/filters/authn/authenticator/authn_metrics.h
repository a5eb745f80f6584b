// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/request/user.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"

namespace cox::apiserver {

// Counts who could be authenticated and how long that took, by upstream's names:
// authentication_attempts, authentication_duration_seconds, authenticated_user_requests and
// authentication_token_cache_*.
//
// Guarantees: no user name becomes a label value, but for a few that every cluster has.
// Threads: all methods may be called concurrently.
class AuthnMetrics {
 public:
  explicit AuthnMetrics(MetricsRegistry& registry);

  void Attempted(const Result<UserInfo>& user, Clock::Duration took);
  // A look into the cache of tokens that somebody else vouched for. `found`: nobody had to be
  // asked.
  void TokenLookedUp(bool found, Clock::Duration took);
  // While somebody is asked.
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
  // Resolved once: each request counts here.
  Counter& success_;
  Counter& failure_;
  Histogram& success_duration_;
  Histogram& failure_duration_;
  Counter& other_user_;
};

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/authenticator/authn_metrics.h"

#include <algorithm>

namespace cox::apiserver {
namespace {

// 1 ms to 16 s.
std::vector<double> Buckets() {
  std::vector<double> buckets;
  double bound = 0.001;
  for (int i = 0; i < 15; ++i, bound *= 2) buckets.push_back(bound);
  return buckets;
}
std::vector<double> CacheBuckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

double Seconds(Clock::Duration took) { return std::chrono::duration<double>(took).count(); }

// User names that are allowed as label values.
constexpr std::string_view kKnownUsers[] = {"admin", "client", "kube_proxy", "kubelet",
                                            "system:serviceaccount:kube-system:default"};

}  // namespace

AuthnMetrics::AuthnMetrics(MetricsRegistry& registry)
    : attempts_(registry.AddCounterVec(
          {"authentication_attempts", "Requests by what authentication made of them.",
           Stability::kAlpha},
          {"result"})),
      duration_(registry.AddHistogramVec(
          {"authentication_duration_seconds", "How long authentication took.", Stability::kAlpha},
          Buckets(), {"result"})),
      users_(
          registry.AddCounterVec({"authenticated_user_requests",
                                  "Requests that were authenticated, by user.", Stability::kAlpha},
                                 {"username"})),
      cache_duration_(
          registry.AddHistogramVec({"authentication_token_cache_request_duration_seconds",
                                    "How long it took to know a token.", Stability::kAlpha},
                                   CacheBuckets(), {"status"})),
      cache_requests_(registry.AddCounterVec({"authentication_token_cache_request_total",
                                              "Tokens that were looked up.", Stability::kAlpha},
                                             {"status"})),
      cache_fetches_(
          registry.AddCounterVec({"authentication_token_cache_fetch_total",
                                  "Tokens that somebody was asked about.", Stability::kAlpha},
                                 {"status"})),
      cache_active_(
          registry.AddGaugeVec({"authentication_token_cache_active_fetch_count",
                                "Tokens that somebody is being asked about.", Stability::kAlpha},
                               {"status"})),
      success_(attempts_.With({"success"})),
      failure_(attempts_.With({"failure"})),
      success_duration_(duration_.With({"success"})),
      failure_duration_(duration_.With({"failure"})),
      other_user_(users_.With({"other"})) {}

void AuthnMetrics::Attempted(const Result<UserInfo>& user, Clock::Duration took) {
  if (!user.ok()) {
    failure_.Inc();
    failure_duration_.Observe(Seconds(took));
    return;
  }
  success_.Inc();
  success_duration_.Observe(Seconds(took));
  if (std::ranges::find(kKnownUsers, user->name) != std::end(kKnownUsers)) {
    users_.With({user->name}).Inc();
  } else if (user->name.find('@') != std::string::npos) {
    users_.With({"email_id"}).Inc();
  } else {
    other_user_.Inc();
  }
}

void AuthnMetrics::TokenLookedUp(bool found, Clock::Duration took) {
  const std::string_view status = found ? "hit" : "miss";
  cache_requests_.With({status}).Inc();
  cache_duration_.With({status}).Observe(Seconds(took));
}

void AuthnMetrics::FetchBegan() { cache_active_.With({"blocked"}).Add(1); }

void AuthnMetrics::FetchEnded(bool ok) {
  cache_active_.With({"blocked"}).Add(-1);
  cache_fetches_.With({ok ? "ok" : "error"}).Inc();
}

}  // namespace cox::apiserver

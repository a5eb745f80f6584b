// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/event_shedding.h"

namespace cox::apiserver {
namespace {

bool WritesEvent(const RequestInfo& info) {
  return info.is_resource && info.resource == "events" &&
         (info.group.empty() || info.group == "events.k8s.io") &&
         (info.verb == "create" || info.verb == "update" || info.verb == "patch");
}

}  // namespace

EventShedding::EventShedding(RequestGate& inner, WriteLag& lag, Clock& clock,
                             MetricsRegistry& metrics)
    : inner_(inner),
      lag_(lag),
      clock_(clock),
      shed_(metrics.AddCounter(
          {.name = "coxswain_apiserver_shed_events_total",
           .help = "Writes of Events that were rejected because the API server was behind."})) {}

bool EventShedding::Enter(const std::shared_ptr<Call>& call) {
  if (!WritesEvent(call->info) || !lag_.IsBehind()) return inner_.Enter(call);
  shed_.Inc();
  int64_t wait = 1;
  {
    MutexLock lock(mu_);
    retry_after_.OnRejected(clock_.Monotonic());
    wait = retry_after_.seconds();
  }
  RejectTooManyRequests(*call, wait);
  return false;
}

}  // namespace cox::apiserver

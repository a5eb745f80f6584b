// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/metrics.h"

namespace cox::sdk {

// The metrics of a webhook server, with the names used by controller-runtime.
struct WebhookMetrics {
  explicit WebhookMetrics(MetricsRegistry& registry)
      : latency(registry.AddHistogramVec(
            {"controller_runtime_webhook_latency_seconds",
             "How long admission requests took to be answered", Stability::kNone},
            {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}, {"webhook"})),
        requests(
            registry.AddCounterVec({"controller_runtime_webhook_requests_total",
                                    "Admission requests by HTTP status code", Stability::kNone},
                                   {"webhook", "code"})),
        in_flight(
            registry.AddGaugeVec({"controller_runtime_webhook_requests_in_flight",
                                  "Admission requests that are being served now", Stability::kNone},
                                 {"webhook"})),
        panics(registry.AddCounter({"controller_runtime_webhook_panics_total",
                                    "Exceptions that escaped webhook handlers", Stability::kNone})),
        reads(registry.AddCounter({"certwatcher_read_certificate_total",
                                   "Times the serving certificate was read", Stability::kNone})),
        read_errors(registry.AddCounter({"certwatcher_read_certificate_errors_total",
                                         "Times the serving certificate could not be used",
                                         Stability::kNone})) {}

  HistogramVec& latency;
  CounterVec& requests;
  GaugeVec& in_flight;
  Counter& panics;
  Counter& reads;
  Counter& read_errors;
};

}  // namespace cox::sdk

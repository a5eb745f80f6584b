// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/admission_metrics.h"

#include <algorithm>

namespace cox::apiserver {
namespace {

std::string_view RejectedText(bool rejected) { return rejected ? "true" : "false"; }
double Seconds(Clock::Duration took) { return std::chrono::duration<double>(took).count(); }
// Webhooks may return any code; limit the number of label values.
std::string CodeText(int code) { return std::to_string(std::clamp(code, 0, 600)); }

}  // namespace

AdmissionMetrics::AdmissionMetrics(MetricsRegistry& registry)
    : steps_(registry.AddHistogramVec(
          {"apiserver_admission_step_admission_duration_seconds",
           "Time that all plugins of a step of admission took together, in seconds.",
           Stability::kStable},
          {0.005, 0.025, 0.1, 0.5, 1.0, 2.5}, {"type", "operation", "rejected"})),
      controllers_(registry.AddHistogramVec(
          {"apiserver_admission_controller_admission_duration_seconds",
           "Time that an admission plugin took, in seconds.", Stability::kStable},
          {0.005, 0.025, 0.1, 0.5, 1.0, 2.5}, {"name", "type", "operation", "rejected"})),
      webhooks_(registry.AddHistogramVec(
          {"apiserver_admission_webhook_admission_duration_seconds",
           "Time that an admission webhook took, in seconds.", Stability::kStable},
          {0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25}, {"name", "type", "operation", "rejected"})),
      webhook_requests_(
          registry.AddCounterVec({"apiserver_admission_webhook_request_total",
                                  "Calls of admission webhooks, by outcome.", Stability::kAlpha},
                                 {"name", "type", "operation", "code", "rejected"})),
      webhook_rejections_(registry.AddCounterVec(
          {"apiserver_admission_webhook_rejection_count",
           "Requests that were refused because of an admission webhook, by cause.",
           Stability::kAlpha},
          {"name", "type", "operation", "error_type", "rejection_code"})),
      webhook_fail_opens_(registry.AddCounterVec(
          {"apiserver_admission_webhook_fail_open_count",
           "Calls of admission webhooks that failed and were ignored, as their policy says.",
           Stability::kAlpha},
          {"name", "type"})),
      step_timings_(steps_, "") {}

void AdmissionMetrics::Timings::Observe(Step step, Operation operation, bool rejected,
                                        Clock::Duration took) {
  const size_t at = (static_cast<size_t>(step) * 4 + static_cast<size_t>(operation)) * 2 +
                    static_cast<size_t>(rejected);
  Histogram* series = series_[at].load(std::memory_order_acquire);
  if (series == nullptr) {
    const std::string_view type = step == Step::kAdmit ? "admit" : "validate";
    const std::string_view verb = OperationName(operation);
    series = name_.empty() ? &family_.With({type, verb, RejectedText(rejected)})
                           : &family_.With({name_, type, verb, RejectedText(rejected)});
    series_[at].store(series, std::memory_order_release);
  }
  series->Observe(Seconds(took));
}

void AdmissionMetrics::ObserveWebhook(const WebhookCall& call, Clock::Duration took) {
  const std::string_view verb = OperationName(call.operation);
  webhooks_.With({call.name, call.type, verb, RejectedText(call.rejected)}).Observe(Seconds(took));
  webhook_requests_
      .With({call.name, call.type, verb, CodeText(call.code), RejectedText(call.rejected)})
      .Inc();
}

void AdmissionMetrics::CountRejection(const WebhookCall& call, std::string_view error_type) {
  webhook_rejections_
      .With({call.name, call.type, OperationName(call.operation), error_type, CodeText(call.code)})
      .Inc();
}

void AdmissionMetrics::CountFailOpen(std::string_view name, std::string_view type) {
  webhook_fail_opens_.With({name, type}).Inc();
}

}  // namespace cox::apiserver

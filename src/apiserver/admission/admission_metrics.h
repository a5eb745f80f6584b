// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/admission/admission.h"
#include "base/clock.h"
#include "base/metrics.h"

namespace cox::apiserver {

// Metrics of admission, with upstream's names:
//   apiserver_admission_step_admission_duration_seconds, for all plugins together;
//   apiserver_admission_controller_admission_duration_seconds, for each plugin;
//   apiserver_admission_webhook_admission_duration_seconds, _request_total, _rejection_count and
//   _fail_open_count, for each webhook.
//
// Threads: all methods may be called concurrently.
class AdmissionMetrics {
 public:
  enum class Step : uint8_t { kAdmit, kValidate };

  explicit AdmissionMetrics(MetricsRegistry& registry);

  // The series of one plugin. Series are looked up once and then cached, because every write calls
  // many plugins.
  class Timings {
   public:
    Timings(HistogramVec& family, std::string name) : family_(family), name_(std::move(name)) {}
    void Observe(Step step, Operation operation, bool rejected, Clock::Duration took);

   private:
    HistogramVec& family_;
    const std::string name_;  // empty: the family has no label `name`
    std::array<std::atomic<Histogram*>, 16> series_{};
  };
  std::unique_ptr<Timings> ControllerTimings(std::string plugin) {
    return std::make_unique<Timings>(controllers_, std::move(plugin));
  }
  Timings& step_timings() { return step_timings_; }

  // One call of a webhook. `type` is "admit" or "validating".
  struct WebhookCall {
    std::string_view name, type;
    Operation operation;
    bool rejected = false;
    int code = 200;
  };
  void ObserveWebhook(const WebhookCall& call, Clock::Duration took);
  // Counts a rejected request. `error_type` is "calling_webhook_error", "apiserver_internal_error"
  // or "no_error".
  void CountRejection(const WebhookCall& call, std::string_view error_type);
  void CountFailOpen(std::string_view name, std::string_view type);

 private:
  HistogramVec& steps_;
  HistogramVec& controllers_;
  HistogramVec& webhooks_;
  CounterVec& webhook_requests_;
  CounterVec& webhook_rejections_;
  CounterVec& webhook_fail_opens_;
  Timings step_timings_;
};

}  // namespace cox::apiserver

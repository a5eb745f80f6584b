// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/metrics.h"

namespace cox {

ClientMetrics::ClientMetrics(MetricsRegistry& registry)
    : requests(registry.AddCounterVec(
          {"rest_client_requests_total",
           "Number of HTTP requests, partitioned by status code, method, and host."},
          {"code", "host", "method"})),
      retries(registry.AddCounterVec(
          {"rest_client_request_retries_total",
           "Number of request retries, partitioned by status code, verb, and host."},
          {"code", "host", "verb"})),
      durations(registry.AddHistogramVec(
          {"rest_client_request_duration_seconds",
           "Request latency in seconds. Broken down by verb, and host."},
          {0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0}, {"host", "verb"})) {
}

std::shared_ptr<ClientMetrics> MakeClientMetrics(MetricsRegistry& registry) {
  return std::make_shared<ClientMetrics>(registry);
}

namespace sdk {
namespace {

// client-go's label for a request without a response.
std::string CodeLabel(int code) { return code == 0 ? "<error>" : std::to_string(code); }

size_t MethodNumber(std::string_view method) {
  constexpr std::array<std::string_view, 5> kNames = {"GET", "POST", "PUT", "PATCH", "DELETE"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == method) return i;
  }
  return kNames.size();
}

}  // namespace

RequestMeter::RequestMeter(std::shared_ptr<ClientMetrics> metrics, std::string host)
    : metrics_(std::move(metrics)), host_(std::move(host)) {
  if (metrics_ != nullptr) {
    counters_ = std::make_unique<std::array<std::atomic<Counter*>, kMethods * kCodes>>();
  }
}

void RequestMeter::Count(std::string_view method, int code, std::chrono::nanoseconds took) {
  if (!enabled()) return;
  if (code < 0 || static_cast<size_t>(code) >= kCodes) code = 0;
  const size_t number = MethodNumber(method);
  // Two threads may look up the series concurrently; both find the same one.
  std::atomic<Counter*>& counter = (*counters_)[number * kCodes + static_cast<size_t>(code)];
  Counter* found = counter.load(std::memory_order_acquire);
  if (found == nullptr) {
    found = &metrics_->requests.With({CodeLabel(code), host_, method});
    counter.store(found, std::memory_order_release);
  }
  found->Inc();
  std::atomic<Histogram*>& duration = durations_[number];
  Histogram* histogram = duration.load(std::memory_order_acquire);
  if (histogram == nullptr) {
    histogram = &metrics_->durations.With({host_, method});
    duration.store(histogram, std::memory_order_release);
  }
  histogram->Observe(std::chrono::duration<double>(took).count());
}

void RequestMeter::CountRetry(std::string_view method, int code) {
  if (enabled()) metrics_->retries.With({CodeLabel(code), host_, method}).Inc();
}

}  // namespace sdk
}  // namespace cox

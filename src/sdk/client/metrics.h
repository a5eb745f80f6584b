// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "coxswain/client.h"

namespace cox {

class ClientMetrics {
 public:
  explicit ClientMetrics(MetricsRegistry& registry);

  CounterVec& requests;     // rest_client_requests_total{code,host,method}
  CounterVec& retries;      // rest_client_request_retries_total{code,host,verb}
  HistogramVec& durations;  // rest_client_request_duration_seconds{host,verb}
};

}  // namespace cox

namespace cox::sdk {

// The metrics of one client, with cached series.
// Threads: all methods may be called concurrently.
class RequestMeter {
 public:
  // If `metrics` is null, nothing is counted.
  RequestMeter(std::shared_ptr<ClientMetrics> metrics, std::string host);

  bool enabled() const { return metrics_ != nullptr; }
  // Counts a finished attempt; `code` is 0 if there was no response.
  void Count(std::string_view method, int code, std::chrono::nanoseconds took);
  void CountRetry(std::string_view method, int code);

 private:
  static constexpr size_t kMethods = 6, kCodes = 600;

  const std::shared_ptr<ClientMetrics> metrics_;
  const std::string host_;
  std::unique_ptr<std::array<std::atomic<Counter*>, kMethods * kCodes>> counters_;
  std::array<std::atomic<Histogram*>, kMethods> durations_{};
};

}  // namespace cox::sdk

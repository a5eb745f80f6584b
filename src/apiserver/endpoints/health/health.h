// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request/call.h"
#include "base/metrics.h"
#include "base/status.h"

namespace cox::apiserver {

// One named check of /livez, /readyz and /healthz.
struct HealthCheck {
  enum On : uint8_t { kLivez = 1, kReadyz = 2, kHealthz = 4, kAll = 7 };
  std::string name;
  std::function<Status()> check;
  uint8_t on = kAll;
};

// The health endpoints: `?verbose`, `?exclude=name`, and a path per check.
//
// Threads: constant once serving; checks are called concurrently, from workers, and may block
// briefly.
class Health {
 public:
  explicit Health(std::vector<HealthCheck> checks);

  // Returns false if the path is not a health path.
  bool Handle(Call& call) const;
  // The metrics of /metrics/slis: the latest result of each check, and how often it had which
  // result. Runs every check, so that the results are those of this moment.
  std::string Slis() const;
  // "/healthz", "/healthz/ping", ...: for the list of paths at `/`.
  std::vector<std::string> paths() const;

 private:
  // The metrics of one check of one endpoint.
  struct Series {
    Gauge* passes;
    Counter* success;
    Counter* error;
  };
  static constexpr size_t kEndpointCount = 3;

  // Runs a check and records its result. REQUIRES: the endpoint has the check.
  Status Run(size_t endpoint, size_t check) const;
  void Report(Call& call, size_t endpoint) const;

  const std::vector<HealthCheck> checks_;
  MetricsRegistry metrics_;
  // By check; null where the endpoint does not have the check.
  std::array<std::vector<Series>, kEndpointCount> series_;
};

// The checks of an API server, with the names and in the order of upstream. The poststarthook
// checks pass once `started` is true. `storage` contains additional storage checks, which are
// inserted after the etcd checks.
std::vector<HealthCheck> ApiServerChecks(std::function<Status()> etcd,
                                         std::function<bool()> caches_synced,
                                         std::shared_ptr<const std::atomic<bool>> started,
                                         std::shared_ptr<const std::atomic<bool>> draining,
                                         const std::vector<HealthCheck>& storage = {});

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request/call.h"
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
  explicit Health(std::vector<HealthCheck> checks) : checks_(std::move(checks)) {}

  // Returns false if the path is not a health path.
  bool Handle(Call& call) const;
  // The results of all checks as metrics for /metrics/slis. Runs every check.
  std::string Slis() const;
  // "/healthz", "/healthz/ping", ...: for the list of paths at `/`.
  std::vector<std::string> paths() const;

 private:
  void Report(Call& call, std::string_view endpoint, uint8_t on) const;

  const std::vector<HealthCheck> checks_;
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "coxswain/manager.h"
#include "net/http.h"

namespace cox::sdk {

// The checks of one health endpoint, with the response format of Kubernetes: "ok", with ?verbose
// one line "[+]name ok" per check, a single check at /healthz/<name>, and ?exclude=<name>. Without
// registered checks there is "ping", which always succeeds.
//
// Threads: all methods may be called concurrently. Checks may block, and so does Answer.
class HealthChecks {
 public:
  // `endpoint`: "healthz", "readyz".
  explicit HealthChecks(std::string endpoint) : endpoint_(std::move(endpoint)) {}

  // Replaces a check of the same name.
  void Add(std::string name, Manager::Check check);
  // True if `path` belongs to this endpoint.
  bool Owns(std::string_view path) const;
  // REQUIRES: Owns(path). The reason of a failure is shown only at the check's own path and in the
  //   log.
  net::Response Answer(Context& ctx, std::string_view path, std::string_view query) const;

 private:
  using Checks = std::vector<std::pair<std::string, Manager::Check>>;
  Checks All() const;

  const std::string endpoint_;
  mutable Mutex mu_;
  Checks checks_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk

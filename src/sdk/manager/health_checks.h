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

// The checks behind one health path, and their answers in the words of Kubernetes' own:
// "ok", with ?verbose "[+]name ok" line by line, one check alone at /healthz/<name>, and
// ?exclude=<name>. Without a check of the user's there is "ping", which is always well.
//
// Threads: all methods may be called concurrently. Checks may block; so does Answer.
class HealthChecks {
 public:
  // `endpoint`: "healthz", "readyz".
  explicit HealthChecks(std::string endpoint) : endpoint_(std::move(endpoint)) {}

  // One of that name is replaced.
  void Add(std::string name, Manager::Check check);
  // True if `path` is of this endpoint.
  bool Owns(std::string_view path) const;
  // REQUIRES: Owns(path). Why a check failed is told by its own path and by the log only.
  net::Response Answer(Context& ctx, std::string_view path, std::string_view query) const;

 private:
  using Checks = std::vector<std::pair<std::string, Manager::Check>>;
  Checks All() const;

  const std::string endpoint_;
  mutable Mutex mu_;
  Checks checks_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk

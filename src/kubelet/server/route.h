// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "coxswain/object_key.h"

namespace cox::kubelet {

// The endpoint and parameters of a request to the node's server.
struct Route {
  enum class To : uint8_t {
    kHealthz,
    kPods,
    kRunningPods,
    kContainerLogs,
    kExec,
    kAttach,
    kPortForward,
    kRun,
    kMetrics,
    kCadvisorMetrics,
    kResourceMetrics,
    kProbeMetrics,
    kStatsSummary,
    kConfigz,
  };
  To to = To::kHealthz;
  std::string_view name;  // of the endpoint, for metrics: "containerLogs"
  ObjectKey pod;
  std::string uid;  // empty: any Pod of that name
  std::string container;
};

// Whether the endpoint is disabled by enableDebuggingHandlers: false.
bool IsDebugging(Route::To to);

// NotFound for unknown paths; MethodNotAllowed.
Result<Route> FindRoute(std::string_view method, std::string_view path);

}  // namespace cox::kubelet

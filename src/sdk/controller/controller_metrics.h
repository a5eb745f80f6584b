// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/metrics.h"

namespace cox::sdk {

// The metrics of one controller, with the names of controller-runtime: controller_runtime_*.
struct ControllerMetrics {
  ControllerMetrics(MetricsRegistry& registry, const std::string& controller);

  Counter& success;  // controller_runtime_reconcile_total, by result
  Counter& error;
  Counter& requeue_after;
  Counter& errors;
  Counter& terminal_errors;
  Counter& panics;
  Counter& timeouts;
  Histogram& seconds;
  Gauge& max_concurrent;
  Gauge& active_workers;
};

}  // namespace cox::sdk

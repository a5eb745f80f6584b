// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "apiserver/filters/audit/events/policy.h"
#include "base/metrics.h"

namespace cox::apiserver {

// The audit metrics, with upstream's names: apiserver_audit_event_total,
// apiserver_audit_error_total{plugin}, apiserver_audit_level_total{level} and
// apiserver_audit_requests_rejected_total. `registry` must outlive it.
class AuditMetrics {
 public:
  explicit AuditMetrics(MetricsRegistry& registry);

  void CountEvent() { events_.Inc(); }
  void CountRejected() { rejected_.Inc(); }
  void CountLevel(AuditLevel level) { levels_[static_cast<size_t>(level)]->Inc(); }
  // Events that `plugin` ("buffered", "log", "truncate", "webhook") lost.
  void CountLost(std::string_view plugin, size_t events) { errors_.With({plugin}).Inc(events); }

 private:
  Counter& events_;
  Counter& rejected_;
  CounterVec& errors_;
  std::array<Counter*, kAuditLevels> levels_;
};

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/events/metrics.h"

namespace cox::apiserver {

AuditMetrics::AuditMetrics(MetricsRegistry& registry)
    : events_(registry.AddCounter(
          {"apiserver_audit_event_total", "Audit events that were made.", Stability::kAlpha})),
      rejected_(registry.AddCounter(
          {"apiserver_audit_requests_rejected_total",
           "Requests that were refused because their audit event could not be written.",
           Stability::kAlpha})),
      errors_(registry.AddCounterVec(
          {"apiserver_audit_error_total",
           "Audit events that were lost, by the part of the audit backend that lost them.",
           Stability::kAlpha},
          {"plugin"})) {
  CounterVec& levels = registry.AddCounterVec(
      {"apiserver_audit_level_total", "Requests, by the level at which the policy audits them.",
       Stability::kAlpha},
      {"level"});
  for (size_t i = 0; i < kAuditLevels; ++i) {
    levels_[i] = &levels.With({AuditLevelName(static_cast<AuditLevel>(i))});
  }
}

}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/core/v1.h"
#include "kubelet/pod/probe_results.h"

namespace cox::kubelet {

enum class ProbeType : uint8_t { kStartup, kLiveness, kReadiness };
// "Startup", "Liveness", "Readiness", as in metrics and events.
const char* ProbeTypeName(ProbeType type);

// The state of one probe: the outcome changes only after as many equal consecutive results as the
// threshold.
//
// Pure; a plain value.
class ProbeState {
 public:
  ProbeState(ProbeType type, const core::v1::Probe& probe);

  // Records a result. Returns the new outcome if it changes.
  std::optional<ProbeOutcome> Observe(bool success);

  ProbeOutcome outcome() const { return outcome_; }
  // Sets the outcome that was known before the kubelet restarted.
  void Restore(ProbeOutcome outcome) { outcome_ = outcome; }
  // The probe needs no more runs for this container instance: startup succeeded, or a liveness or
  // startup failure is about to kill the container.
  bool done() const;

 private:
  const ProbeType type_;
  const int success_threshold_;
  const int failure_threshold_;
  ProbeOutcome outcome_ = ProbeOutcome::kUnknown;
  bool last_ = false;
  int run_ = 0;
};

}  // namespace cox::kubelet

// SPDX-License-Identifier: Apache-2.0
#include "kubelet/probes/probe_state.h"

#include <algorithm>

namespace cox::kubelet {

const char* ProbeTypeName(ProbeType type) {
  switch (type) {
    case ProbeType::kStartup:
      return "Startup";
    case ProbeType::kLiveness:
      return "Liveness";
    case ProbeType::kReadiness:
      return "Readiness";
  }
  return "";
}

ProbeState::ProbeState(ProbeType type, const core::v1::Probe& probe)
    : type_(type),
      success_threshold_(std::max(probe.successThreshold, 1)),
      failure_threshold_(probe.failureThreshold > 0 ? probe.failureThreshold : 3) {}

std::optional<ProbeOutcome> ProbeState::Observe(bool success) {
  if (run_ > 0 && last_ == success) {
    ++run_;
  } else {
    last_ = success;
    run_ = 1;
  }
  if (run_ < (success ? success_threshold_ : failure_threshold_)) return std::nullopt;
  const ProbeOutcome next = success ? ProbeOutcome::kSuccess : ProbeOutcome::kFailure;
  if (next == outcome_) return std::nullopt;
  outcome_ = next;
  return next;
}

bool ProbeState::done() const {
  switch (type_) {
    case ProbeType::kStartup:
      return outcome_ != ProbeOutcome::kUnknown;
    case ProbeType::kLiveness:
      return outcome_ == ProbeOutcome::kFailure;
    case ProbeType::kReadiness:
      return false;
  }
  return false;
}

}  // namespace cox::kubelet

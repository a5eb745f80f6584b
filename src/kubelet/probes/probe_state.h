// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/core/v1.h"
#include "kubelet/pod/probe_results.h"

namespace cox::kubelet {

enum class ProbeType : uint8_t { kStartup, kLiveness, kReadiness };
// "Startup", "Liveness", "Readiness": as metrics and events have it.
const char* ProbeTypeName(ProbeType type);

// What the looks at one container, one after another, come to: a result changes only when it was
// the same as often as the threshold says.
//
// Pure; as a plain value.
class ProbeState {
 public:
  ProbeState(ProbeType type, const core::v1::Probe& probe);

  // The next look. The new outcome, if that changes it.
  std::optional<ProbeOutcome> Observe(bool success);

  ProbeOutcome outcome() const { return outcome_; }
  // Known already, from before an agent was restarted.
  void Restore(ProbeOutcome outcome) { outcome_ = outcome; }
  // There is nothing left to find out in this life of the container: it has come up, or it has
  // failed and is going to be killed.
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

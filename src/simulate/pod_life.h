// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/v1.h"
#include "base/clock.h"
#include "base/result.h"
#include "simulate/options.h"

namespace cox::simulate {

// The simulation parameters of a Pod from its annotations; see options.h.
struct DesiredPodState {
  Clock::Duration startup_delay{};
  std::optional<Clock::Duration> run_for;  // none: forever
  int32_t exit_code = 0;
  std::string fail;
};
// Returns BadRequest with the annotation's name for an invalid value.
Result<DesiredPodState> DesiredStateOf(const core::v1::Pod& pod, const Options& options);

// The next action for a Pod.
struct PodStep {
  enum class Action : uint8_t { kNothing, kSetStatus, kDelete };
  Action action = Action::kNothing;
  core::v1::PodStatus status;  // for kSetStatus: the changes, without the Pod's address
  bool needs_address = false;
  // Time until the next step, if it does not depend on an event.
  std::optional<Clock::Duration> again;
};

// The life cycle of a Pod on a healthy node:
//
//   bound ──startup delay──▶ Running, Ready ──run-for──▶ Succeeded, Failed
//                              ▲         │ restarted according to its restartPolicy
//                              └ backoff ┘
//   being deleted: its containers terminate (reported if there is a finalizer), then it is deleted
//
// `seen`: when the Pod was first observed on this node. Times in the status have a resolution of
// one second, as in the API, and so do the steps that depend on them.
PodStep NextStep(const core::v1::Pod& pod, const DesiredPodState& desired,
                 const std::string& host_ip, Clock::WallTime seen, Clock::WallTime now);

// Adds the Pod's address to the status of a step that needs one.
void SetPodAddress(core::v1::PodStatus& status, std::string address);

// A strategic merge patch that sets `status` if the Pod still has its UID.
std::string StatusPatchOf(const core::v1::Pod& pod, const core::v1::PodStatus& status);

// The restart backoff of a container: 10 s, doubled with each restart, up to five minutes.
Clock::Duration RestartBackoff(int32_t restarts);

// Drops the fields that the simulation does not read, which leaves some hundred bytes per Pod.
void KeepUsedFields(core::v1::Pod& pod);

}  // namespace cox::simulate

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/v1.h"
#include "base/clock.h"
#include "base/result.h"
#include "simulate/options.h"

namespace cox::simulate {

// What annotations ask of a Pod's life; see options.h.
struct Wishes {
  Clock::Duration startup_delay{};
  std::optional<Clock::Duration> run_for;  // none: for ever
  int32_t exit_code = 0;
  std::string fail;
};
// BadRequest, naming the annotation, for a value that is none.
Result<Wishes> WishesOf(const core::v1::Pod& pod, const Options& options);

// What is to be done for a Pod next.
struct PodStep {
  enum class Action : uint8_t { kNothing, kSetStatus, kDelete };
  Action action = Action::kNothing;
  core::v1::PodStatus status;  // of kSetStatus: what changes; lacks the Pod's address
  bool needs_address = false;
  // When there may be more to do although nothing happens.
  std::optional<Clock::Duration> again;
};

// The life of a Pod on a node that is well:
//
//   bound ──startup delay──▶ Running, Ready ──run-for──▶ Succeeded, Failed
//                              ▲         │ restarted, as its policy says
//                              └ backoff ┘
//   being deleted: its containers end (told where a finalizer waits for it), then it is deleted
//
// `seen`: since when it is known to be on this node. Times in the status are whole seconds, as the
// API keeps them, and what they lead to is as exact.
PodStep NextStep(const core::v1::Pod& pod, const Wishes& wishes, const std::string& host_ip,
                 Clock::WallTime seen, Clock::WallTime now);

// How long a container that has exited so often waits: 10 s, doubled, up to five minutes.
Clock::Duration RestartBackoff(int32_t restarts);

// Forgets what the simulation does not read: what is left of a Pod is some hundred bytes.
void KeepWhatIsRead(core::v1::Pod& pod);

}  // namespace cox::simulate

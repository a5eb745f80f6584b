// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubelet/actions/decide.h"

namespace cox::kubelet {

// Whether the container may have running processes. A created container that was never started has
// none: the runtime does not change its state when it is stopped, so waiting for its end would
// never return.
bool MayRun(const runtime::ContainerState& state);

// The grace period from now for a Pod that must end at `deadline`. At least one second, so that
// containers receive their stop signal before they are killed.
Clock::Duration GraceUntil(Clock::WallTime deadline, Clock::WallTime now);

// The next step of Pod termination: all containers are killed, so that all preStop hooks run at
// once. The stop signals are ordered: first all main containers; then the sidecars in reverse start
// order, each when the previous one has ended. Then the sandbox is stopped.
void DecideEnding(const PodView& view, Clock::Duration grace, PodActions& actions);

// The deadline of a Pod that is being deleted; none if it is not being deleted.
std::optional<Clock::WallTime> DeletionDeadline(const core::v1::Pod& pod);

}  // namespace cox::kubelet

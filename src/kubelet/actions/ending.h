// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubelet/actions/decide.h"

namespace cox::kubelet {

// Whether there is something to end. One that was made and never started has nothing: the runtime
// leaves it as it is when it is asked to stop it, so that waiting for its end would never end.
bool MayRun(const runtime::ContainerState& state);

// How much time what runs has from now on, when the Pod is to be over at `deadline`. Never less
// than a second: a container that is asked to end hears of it before it is killed.
Clock::Duration GraceUntil(Clock::WallTime deadline, Clock::WallTime now);

// The next step to the end of a Pod: main containers first, all at once; then the sidecars, the
// last started first, each when the one after it has ended; then the sandbox.
void DecideEnding(const PodView& view, Clock::Duration grace, PodActions& actions);

// By when a Pod that is being deleted is to be over; none if it is not being deleted.
std::optional<Clock::WallTime> DeletionDeadline(const core::v1::Pod& pod);

}  // namespace cox::kubelet

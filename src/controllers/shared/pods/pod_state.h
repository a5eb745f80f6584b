// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/core/v1.h"
#include "base/clock.h"
#include "object/core/pod_state.h"
#include "object/scalar/time.h"

// Pod state as controllers need it. Pure functions.
namespace cox::controllers::pods {

using PodPtr = std::shared_ptr<const core::v1::Pod>;

// The current time with fractional seconds, to compare with times in objects. Use TimeNow of
// conditions.h for times that are written to objects.
Time PreciseNow(const Clock& clock);

using core_rules::IsReady;
using core_rules::IsTerminal;

bool IsActive(const core::v1::Pod& pod);       // neither terminal nor being deleted
bool IsTerminating(const core::v1::Pod& pod);  // being deleted, and not terminal

// The time of the transition to Ready; nullopt if the Pod is not ready.
std::optional<Time> ReadySince(const core::v1::Pod& pod);

// Returns whether the Pod has been ready for `min_ready_seconds`.
bool IsAvailable(const core::v1::Pod& pod, int32_t min_ready_seconds, const Time& now);
// Time until a ready Pod is available; nullopt if it is available already or not ready.
std::optional<Clock::Duration> AvailableIn(const core::v1::Pod& pod, int32_t min_ready_seconds,
                                           const Time& now);
// The minimum of AvailableIn over all Pods: when to sync again.
std::optional<Clock::Duration> NextAvailableIn(const std::vector<PodPtr>& pods,
                                               int32_t min_ready_seconds, const Time& now);

}  // namespace cox::controllers::pods

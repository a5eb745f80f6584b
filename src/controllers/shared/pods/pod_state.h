// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/core/v1.h"
#include "base/clock.h"
#include "object/core/pod_state.h"
#include "object/scalar/time.h"

// What those who answer for Pods want to know of one. Pure functions.
namespace cox::controllers::pods {

using PodPtr = std::shared_ptr<const core::v1::Pod>;

// The present with its fraction, to compare with what objects say. What is written to objects is
// TimeNow of conditions.h.
Time PreciseNow(const Clock& clock);

using core_rules::IsReady;
using core_rules::IsTerminal;

bool IsActive(const core::v1::Pod& pod);       // neither terminal nor being deleted
bool IsTerminating(const core::v1::Pod& pod);  // being deleted, and not terminal

// When it became ready; none if it is not.
std::optional<Time> ReadySince(const core::v1::Pod& pod);

// Whether it has been ready for `min_ready_seconds`.
bool IsAvailable(const core::v1::Pod& pod, int32_t min_ready_seconds, const Time& now);
// How long until a ready Pod is available; none if it is, or is not ready.
std::optional<Clock::Duration> AvailableIn(const core::v1::Pod& pod, int32_t min_ready_seconds,
                                           const Time& now);
// The shortest of it over all: when to look again.
std::optional<Clock::Duration> NextAvailableIn(const std::vector<PodPtr>& pods,
                                               int32_t min_ready_seconds, const Time& now);

}  // namespace cox::controllers::pods

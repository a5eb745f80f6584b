// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/batch/v1.h"
#include "base/clock.h"
#include "controllers/shared/pods/pod_state.h"

// Backoff before failed Pods of a Job are replaced. Pure functions of the objects, so that a
// restart of the controller does not change the delay.
namespace cox::controllers {

// 10 s after the first failure, doubled with each further one, at most 10 minutes.
Clock::Duration FailureDelay(int32_t failures);

// Remaining backoff, based on the failures since the last success; 0: none. Failures that the
// failure policy ignores count too, because nothing else limits their rate.
Clock::Duration BackoffLeft(const batch::v1::Job& job, const std::vector<pods::PodPtr>& pods,
                            const Time& now);
// The same for one index, whose last failed Pod is `last`.
Clock::Duration IndexBackoffLeft(const core::v1::Pod& last, const Time& now);

}  // namespace cox::controllers

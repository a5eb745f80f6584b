// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/batch/v1.h"
#include "base/clock.h"
#include "controllers/shared/pods/pod_state.h"

// How long a Job waits before it replaces Pods that failed. Pure functions of what there is, so
// that a restart of this program neither shortens nor lengthens a wait.
namespace cox::controllers {

// 10 s after the first failure, doubled with each further one, at most 6 minutes.
Clock::Duration FailureDelay(int32_t failures);

// Until Pods may be made again, by the failures since the last success; 0: now. Failures that the
// failure policy ignores are waited for too: nothing else would slow them down.
Clock::Duration BackoffLeft(const batch::v1::Job& job, const std::vector<pods::PodPtr>& pods,
                            const Time& now);
// The same for one index, whose last Pod to fail was `last`.
Clock::Duration IndexBackoffLeft(const core::v1::Pod& last, const Time& now);

}  // namespace cox::controllers

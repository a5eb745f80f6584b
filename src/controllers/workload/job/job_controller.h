// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/workload/job/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Runs Pods until as many have succeeded as a Job wants, or it is not worth trying any more. What
// it does is decided in decide.h, how Pods are counted in tally.h.
Status AddJobController(Manager& manager, const JobOptions& options);

}  // namespace cox::controllers

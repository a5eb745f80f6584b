// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/workload/job/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Runs Pods until the Job's completions are reached or the Job fails. The decisions are in
// decide.h, the counting of Pods in tally.h.
Status AddJobController(Manager& manager, const JobOptions& options);

}  // namespace cox::controllers

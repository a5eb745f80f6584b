// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/log.h"
#include "base/status.h"

// How likely the kernel kills a process when memory is exhausted: from -1000 (never) to 1000.
namespace cox {

// The value of the components on a node, as upstream's.
inline constexpr int kNodeOomScoreAdj = -999;

// Sets oom_score_adj of a process; 0: of this process. Programs that it starts later inherit it.
// Forbidden if the process is another user's, or the value is lowered without CAP_SYS_RESOURCE;
// NotFound if there is no such process.
Status SetOomScoreAdj(pid_t pid, int score);

// The same, for processes that run without it too: a failure is logged at level 2.
void TrySetOomScoreAdj(const Logger& log, pid_t pid, int score);

}  // namespace cox

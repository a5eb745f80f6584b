// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

namespace cox::bench {

// Returns the CPU time that this thread has used, in microseconds. Unlike elapsed time, it does not
// include the time in which other programs run.
inline double ThreadCpuMicroseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace cox::bench

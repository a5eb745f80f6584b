// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

// For tests of limits: what a piece of work costs. Linking it (cox_cost_meter) replaces the
// program's operator new by one that counts.
namespace cox {

// How much slower this build may be than a plain one: sanitizers check every access.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kSlow = 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr double kSlow = 10;
#else
inline constexpr double kSlow = 1;
#endif
#else
inline constexpr double kSlow = 1;
#endif

struct Cost {
  double seconds = 0;    // of CPU
  int64_t bytes = 0;     // from operator new, held at once beyond what was held before
  int64_t resident = 0;  // growth of the process in RAM; 0 where the kernel does not tell
};

// Runs `work` once.
// REQUIRES: no other thread allocates meanwhile.
Cost Measure(const std::function<void()>& work);

}  // namespace cox

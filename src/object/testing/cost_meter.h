// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

// Measures the cost of an operation, for tests of limits. Linking it (cox_cost_meter) replaces the
// program's operator new by one that counts.
namespace cox {

// The permitted slowdown of this build: sanitizers check every access.
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
  double seconds = 0;    // CPU time
  int64_t bytes = 0;     // peak of operator new above the initial level
  int64_t resident = 0;  // growth of the resident set; 0 if the kernel does not report it
};

// Runs `work` once.
// REQUIRES: no other thread allocates meanwhile.
Cost Measure(const std::function<void()>& work);

}  // namespace cox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"

namespace cox::cmd {

// Console output during the start of a cluster: one line per completed step, with the time since
// the start.
//
// Threads: all methods may be called concurrently.
class Progress {
 public:
  explicit Progress(Clock& clock) : clock_(clock), begun_(clock.Monotonic()) {}

  // "API server ready", 0.5 s.
  void Report(std::string_view what);
  // Prints the text unchanged.
  void Print(std::string_view text);
  double seconds() const;

 private:
  Clock& clock_;
  const Clock::SteadyTime begun_;
  Mutex mu_;
};

}  // namespace cox::cmd

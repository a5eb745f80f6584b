// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <ctime>
#include <functional>
#include <initializer_list>
#include <string>

#include "base/context.h"
#include "base/status.h"

namespace cox {

// Blocks `signals` in this thread and in those that it starts from now on, so that they wait for
// RunUntilSignal; ignores SIGPIPE. To be called before the first thread.
sigset_t BlockSignals(std::initializer_list<int> signals);

struct UntilSignalOptions {
  sigset_t signals;  // of BlockSignals, with SIGTERM among them
  std::string name;  // of the thread that runs
  // After so long the start is over, and memory it used is given back: see TrimMemory. Once.
  timespec trim_after;
  // Says what a signal does, before that is done: the first stops, one that comes `again` ends.
  std::function<void(int signal, bool again)> say;
};

// Runs `run` on a thread of its own and returns what it does. This one waits for signals meanwhile:
// the first stops `ctx`, for `run` to end in order; the second ends the program at once, with code
// 1.
Status RunUntilSignal(Context& ctx, const UntilSignalOptions& options,
                      const std::function<Status()>& run);

}  // namespace cox

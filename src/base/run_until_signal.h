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

// Blocks `signals` in this thread and in threads it starts later, so that RunUntilSignal receives
// them; ignores SIGPIPE. Must be called before the first thread starts.
sigset_t BlockSignals(std::initializer_list<int> signals);

struct UntilSignalOptions {
  sigset_t signals;  // the result of BlockSignals, with SIGTERM
  std::string name;  // of the thread that calls `run`
  // The end of startup: after this time, TrimMemory is called once.
  timespec trim_after;
  // Reports a signal before it takes effect: the first stops `ctx`, a second (`again`) exits.
  std::function<void(int signal, bool again)> on_signal;
};

// Calls `run` on its own thread and returns its result. The calling thread waits for signals: the
// first stops `ctx`, so that `run` can shut down gracefully; the second exits the program at once
// with code 1.
Status RunUntilSignal(Context& ctx, const UntilSignalOptions& options,
                      const std::function<Status()>& run);

}  // namespace cox

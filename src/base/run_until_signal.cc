// SPDX-License-Identifier: Apache-2.0
#include "base/run_until_signal.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "base/memory_trim.h"
#include "base/result.h"
#include "base/scope.h"

namespace cox {

sigset_t BlockSignals(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return set;
}

Status RunUntilSignal(Context& ctx, const UntilSignalOptions& options,
                      const std::function<Status()>& run) {
  Status status;
  std::atomic<bool> ended = false;
  const pthread_t waiting = pthread_self();
  Scope scope(ctx, options.name);
  COX_RETURN_IF_ERROR(scope.Go(options.name, [&](Context&) {
    status = run();
    ended = true;
    pthread_kill(waiting, SIGTERM);  // ends the wait below
  }));
  const timespec* trim_after = &options.trim_after;
  for (bool asked = false; !ended;) {
    const int signal = sigtimedwait(&options.signals, nullptr, trim_after);
    if (ended) break;
    if (signal < 0) {
      trim_after = nullptr;  // only once
      TrimMemory();
      continue;
    }
    const bool again = std::exchange(asked, true);
    options.on_signal(signal, again);
    if (again) _exit(1);
    ctx.Stop();
  }
  scope.Stop();
  scope.Wait();
  return status;
}

}  // namespace cox

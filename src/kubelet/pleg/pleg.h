// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

// The Pod lifecycle event generator: caches the state of Pods in the runtime and reports changes.
//
// The runtime's event stream wakes the affected Pod. A relist, each minute and whenever the stream
// was interrupted, finds changes that the stream missed. A runtime without an event stream is
// relisted each second.
//
// Guarantees: Get returns a state at least as recent as the last event or Invalidate before it, and
//   calls the runtime only if there was one.
// Threads: all methods may be called concurrently. `woken` and `listed` are called without a lock
//   on the threads of Run; they only enqueue.
class Pleg {
 public:
  struct Parts {
    runtime::Runtime& runtime;
    // The Pod's sandbox or containers have changed.
    std::function<void(const std::string& uid)> woken;
    // All Pods in the runtime, including those that are not in the API.
    std::function<void(const std::vector<runtime::PodState>& pods)> listed;
    MetricsRegistry* metrics = nullptr;
  };
  Pleg(Clock& clock, Parts parts);

  // Runs until `ctx` is cancelled.
  void Run(Context& ctx);

  Result<runtime::PodState> Get(const Context& ctx, const std::string& uid);
  // Called after the caller changed the Pod in the runtime: the next Get reads from the runtime.
  void Invalidate(const std::string& uid);
  void Forget(const std::string& uid);
  // Relists immediately; Run does this each minute.
  Status Relist(const Context& ctx);

  // OK while the last relist is at most three minutes old.
  Status Healthy() const;

 private:
  struct Entry {
    uint64_t requested = 0;  // increases with each event and Invalidate; 0: new entry
    uint64_t known = 0;      // the value of `asked` that `state` was read for
    runtime::PodState state;
    std::string digest;  // of the last relist
  };
  void Follow(Context& ctx);

  Clock& clock_;
  const Parts parts_;
  Histogram* relist_duration_ = nullptr;
  mutable Mutex mu_;
  // The last value of Entry::asked. Global, so that an entry that was removed and created again
  // does not accept the response to an older read.
  uint64_t requested_ COX_GUARDED_BY(mu_) = 0;
  std::map<std::string, Entry> pods_ COX_GUARDED_BY(mu_);
  Clock::SteadyTime listed_ COX_GUARDED_BY(mu_){};
  bool ever_listed_ COX_GUARDED_BY(mu_) = false;
  bool has_events_ COX_GUARDED_BY(mu_) = true;
  MetricHandle last_seen_;  // reads the members above
};

}  // namespace cox::kubelet

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

// What the runtime runs, and news of it: the generator of Pod lifecycle events.
//
// The runtime's stream of events wakes the Pod it is about. A list of everything, each minute and
// whenever the stream broke, finds what the stream has missed. A runtime without events is listed
// each second.
//
// Guarantees: Get gives a state at least as new as the last event or Invalidate before it; it asks
//   the runtime only when there was one.
// Threads: all methods may be called concurrently. `woken` and `listed` are called without a lock
//   on the threads of Run; they only enqueue.
class Pleg {
 public:
  struct Parts {
    runtime::Runtime& runtime;
    // Something happened to this Pod's sandbox or containers.
    std::function<void(const std::string& uid)> woken;
    // All that the runtime has: of Pods that nobody wants too.
    std::function<void(const std::vector<runtime::PodState>& pods)> listed;
    MetricsRegistry* metrics = nullptr;
  };
  Pleg(Clock& clock, Parts parts);

  // Until `ctx` stops.
  void Run(Context& ctx);

  Result<runtime::PodState> Get(const Context& ctx, const std::string& uid);
  // The caller has changed something: the next Get asks the runtime.
  void Invalidate(const std::string& uid);
  void Forget(const std::string& uid);
  // Lists now; also what Run does each minute.
  Status Relist(const Context& ctx);

  // OK while the last list is no older than three minutes.
  Status Healthy() const;

 private:
  struct Entry {
    uint64_t asked = 0;  // newer with each event and Invalidate; 0: just made
    uint64_t known = 0;  // `state` is of that
    runtime::PodState state;
    std::string digest;  // of the last list
  };
  void Follow(Context& ctx);

  Clock& clock_;
  const Parts parts_;
  Histogram* relist_duration_ = nullptr;
  mutable Mutex mu_;
  // The last that was given out. Of all Pods one: an entry that was forgotten and made anew takes
  // no answer to an older question for its own.
  uint64_t asked_ COX_GUARDED_BY(mu_) = 0;
  std::map<std::string, Entry> pods_ COX_GUARDED_BY(mu_);
  Clock::SteadyTime listed_ COX_GUARDED_BY(mu_){};
  bool ever_listed_ COX_GUARDED_BY(mu_) = false;
  bool has_events_ COX_GUARDED_BY(mu_) = true;
  MetricHandle last_seen_;  // uses what stands above
};

}  // namespace cox::kubelet

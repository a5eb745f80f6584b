// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "simulate/addresses.h"
#include "simulate/options.h"
#include "simulate/pernode/metrics.h"
#include "simulate/pernode/permits.h"

namespace cox::simulate {

// The environment that the nodes of one event loop share.
//
// Threads: the members after `post` are used on the loop's thread only.
struct Shard {
  const Options& options;
  Clock& clock;
  Logger log;
  PerNodeMetrics& metrics;
  PodAddresses& addresses;
  std::function<double()> random;  // in [0, 1); thread-safe
  // Calls a function on the loop's thread. May be called by any thread.
  std::function<void(std::function<void()>)> post;
  Permits starts;      // nodes that connect and register
  Permits pod_writes;  // Pod writes in flight; Leases and node status never wait for them
  int pod_writes_per_node = 4;
};

// Calls a function on the loop's thread after a delay. Destruction cancels the call.
//
// Threads: the loop's thread, or any thread when the loop has stopped.
class LoopTimer {
 public:
  void Set(Shard& shard, Clock::Duration delay, std::function<void()> call) {
    call_ = std::make_shared<std::function<void()>>(std::move(call));
    timer_ = shard.clock.After(delay, [&shard, weak = std::weak_ptr(call_)] {
      shard.post([weak] {
        // A copy of the pointer, because the call may set the timer again.
        if (const auto due = weak.lock()) (*due)();
      });
    });
  }
  void Cancel() {
    timer_.Cancel();
    call_.reset();
  }

 private:
  std::shared_ptr<std::function<void()>> call_;
  Timer timer_;
};

}  // namespace cox::simulate

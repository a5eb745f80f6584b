// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/worker_pool.h"
#include "coxswain/event_recorder.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

struct KillOrder {
  std::shared_ptr<const core::v1::Pod> pod;
  core::v1::Container container;  // for its preStop hook; may contain only a name
  std::string id;
  std::string pod_ip;
  std::string message;  // of the event "Killing"
  Clock::Duration grace{};
  // The value of ContainerKiller::ended() from before the container's state was read.
  uint64_t seen = 0;
};

// Stops containers asynchronously: preStop hook, stop signal, grace period, kill. Calls `changed`
// when a container has ended.
//
// Guarantees: each container is stopped once; a later Kill has an effect only if it shortens the
//   grace period, and then cancels the hook. A failed stop is retried by the next Kill.
// Threads: all methods may be called concurrently. `changed` is called without a lock.
class ContainerKiller {
 public:
  struct Parts {
    runtime::Runtime& runtime;
    EventRecorder& events;
    std::function<void(const std::string& uid)> changed;
    size_t max_threads = 256;  // each waits for one container's grace period
  };
  ContainerKiller(const Context& ctx, Parts parts);

  void Kill(KillOrder order);
  // Increases with each container that has ended. A Kill whose `seen` is older than the container's
  // end is ignored.
  uint64_t ended() const;

 private:
  struct Running {
    Clock::SteadyTime deadline;
    Context ctx;
  };
  void Run(Context& ctx, const KillOrder& order, Clock::SteadyTime deadline, bool with_hook);

  void Forget(const std::string& id, Clock::SteadyTime deadline, bool has_ended);

  const Parts parts_;
  const Context ctx_;
  mutable Mutex mu_;
  std::map<std::string, Running> running_ COX_GUARDED_BY(mu_);  // by the container's id
  uint64_t ended_ COX_GUARDED_BY(mu_) = 0;
  std::map<std::string, uint64_t> ended_at_ COX_GUARDED_BY(mu_);  // the newest thousand
  WorkerPool pool_;
};

}  // namespace cox::kubelet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/core/v1.h"
#include "base/async.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/worker_pool.h"
#include "coxswain/event_recorder.h"
#include "kubelet/probes/probe.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

struct KillOrder {
  std::shared_ptr<const core::v1::Pod> pod;
  core::v1::Container container;  // for its preStop hook; may contain only a name
  std::string id;
  std::string pod_ip;
  std::string message;  // of the event "Killing"
  Clock::Duration grace{};
  // Runs the preStop hook, but sends the stop signal only when the container is killed without this
  // flag, or at the end of the grace period. Sidecars wait until the main containers have ended.
  bool wait_for_turn = false;
  // The value of ContainerKiller::ended() from before the container's state was read.
  uint64_t seen = 0;
};

// Stops containers asynchronously: preStop hook, stop signal, grace period, kill. Calls `changed`
// when a container has ended. No thread waits for a container, so that one that does not end cannot
// delay others.
//
// Guarantees: each container is stopped once. A later Kill has an effect only if it ends the wait
//   for the container's turn, or shortens the grace period, which cancels the hook. A failed stop
//   is retried by the next Kill.
// Threads: all methods may be called concurrently. `changed` is called without a lock, on any
//   thread, and must not block.
class ContainerKiller {
 public:
  struct Parts {
    runtime::Runtime& runtime;
    Prober& prober;  // for HTTP hooks
    EventRecorder& events;
    std::function<void(const std::string& uid)> changed;
  };
  ContainerKiller(const Context& ctx, Parts parts);
  ~ContainerKiller();

  void Kill(KillOrder order);
  // Increases with each container that has ended. A Kill whose `seen` is older than the container's
  // end is ignored.
  uint64_t ended() const;

 private:
  struct Running {
    Clock::SteadyTime deadline;
    Context ctx;
    Context turn;
  };
  // A kill in progress.
  struct Job {
    KillOrder order;
    Clock::SteadyTime deadline;
    Context ctx;   // stopped by a later Kill that replaces this one
    Context turn;  // stopped when the stop signal may be sent
    bool hook = false;
    bool waited = false;  // for its turn
    PendingWork::Token pending;
  };
  using JobPtr = std::shared_ptr<const Job>;

  // Runs a step on the pool, because it may block while the runtime is not reachable.
  void Submit(const JobPtr& job, void (ContainerKiller::*step)(const JobPtr& job));
  void RunPreStop(const JobPtr& job);
  void AwaitTurn(const JobPtr& job);
  void Stop(const JobPtr& job);
  void OnStopped(const JobPtr& job, const Status& stopped);
  void Forget(const Job& job, bool has_ended);

  const Parts parts_;
  Context ctx_;
  mutable Mutex mu_;
  std::map<std::string, Running> running_ COX_GUARDED_BY(mu_);  // by the container's id
  uint64_t ended_ COX_GUARDED_BY(mu_) = 0;
  std::map<std::string, uint64_t> ended_at_ COX_GUARDED_BY(mu_);  // the newest thousand
  PendingWork pending_;
  WorkerPool pool_;
};

}  // namespace cox::kubelet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "base/async.h"
#include "base/context.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/scope.h"
#include "kubelet/probes/probe.h"
#include "kubelet/probes/probe_state.h"
#include "runtime/pod_state.h"

namespace cox::kubelet {

// Probes the node's containers, with one timer queue for all of them. No thread waits for a probe,
// so that a container cannot delay the probes of others.
//
// Guarantees: a probe never runs concurrently with itself. Liveness and readiness probes wait for
//   the startup probe. Results belong to one instance of a container.
// Threads: all methods may be called concurrently. Listeners are called on any thread, without a
//   lock; they only enqueue.
class ProbeManager {
 public:
  struct Failed {  // a failed probe: for the event "Unhealthy"
    std::string uid;
    std::string container;
    ProbeType type = ProbeType::kLiveness;
    std::string message;
    bool errored = false;  // the probe could not be executed
  };
  // Starts a probe and calls `done` once, on any thread: Prober::Run.
  using Run = std::function<void(const Context& ctx, const ProbeTarget& target, Prober::Done done)>;
  struct Options {
    Run run;
    // The results of this Pod have changed.
    std::function<void(const std::string& uid)> changed;
    std::function<void(const Failed& failed)> failed;  // may be empty
    MetricsRegistry* metrics = nullptr;                // prober_probe_total
    uint64_t seed = 0;                                 // of the jitter; 0: random
  };
  ProbeManager(const Context& ctx, Options options);
  ~ProbeManager();

  // Starts probes for new container instances and stops those of ended ones. For a Pod that is
  // being deleted, only readiness probes continue.
  void Update(const core::v1::Pod& pod, const runtime::PodState& state);
  void Remove(const std::string& uid);

  PodProbeResults Results(const std::string& uid) const;
  size_t size() const;

 private:
  struct Key {
    std::string uid;
    std::string container_id;
    ProbeType type = ProbeType::kStartup;
    auto operator<=>(const Key&) const = default;
  };
  struct Entry;
  using EntryPtr = std::shared_ptr<Entry>;

  void AddContainer(const core::v1::Pod& pod, const core::v1::Container& container,
                    const runtime::ContainerState& state, const std::string& pod_ip)
      COX_REQUIRES(mu_);
  bool MayRun(const Entry& entry) const COX_REQUIRES(mu_);
  void Schedule(const EntryPtr& entry, Clock::SteadyTime due) COX_REQUIRES(mu_);
  void Loop(Context& ctx);
  void Start(const EntryPtr& entry, int attempt, PendingWork::Token pending);
  void Finish(const EntryPtr& entry, const ProbeReply& reply);

  const Options options_;
  Context ctx_;  // for probes
  Clock& clock_;
  mutable Mutex mu_;
  std::map<Key, EntryPtr> probes_ COX_GUARDED_BY(mu_);
  std::multimap<Clock::SteadyTime, EntryPtr> queue_ COX_GUARDED_BY(mu_);
  std::mt19937_64 random_ COX_GUARDED_BY(mu_);
  CondVar changed_;
  MetricHandle metric_;
  PendingWork pending_;
  Scope scope_;
};

}  // namespace cox::kubelet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "base/context.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/scope.h"
#include "base/worker_pool.h"
#include "kubelet/probes/probe.h"
#include "kubelet/probes/probe_state.h"
#include "runtime/pod_state.h"

namespace cox::kubelet {

// Probes the node's containers with one timer queue for all of them and a bounded number of
// threads.
//
// Guarantees: a probe never runs concurrently with itself. Liveness and readiness probes wait for
//   the startup probe. Results belong to one instance of a container.
// Threads: all methods may be called concurrently. Listeners are called on the pool's threads,
//   without a lock; they only enqueue.
class ProbeManager {
 public:
  struct Failed {  // a failed probe: for the event "Unhealthy"
    std::string uid;
    std::string container;
    ProbeType type = ProbeType::kLiveness;
    std::string message;
    bool errored = false;  // the probe could not be executed
  };
  struct Options {
    ProbeExec exec;
    // The results of this Pod have changed.
    std::function<void(const std::string& uid)> changed;
    std::function<void(const Failed& failed)> failed;  // may be empty
    MetricsRegistry* metrics = nullptr;                // prober_probe_total
    size_t max_threads = 32;
    uint64_t seed = 0;  // of the jitter; 0: random
    // Instead of RunProbe, in tests.
    std::function<ProbeReply(Context&, const ProbeTarget&)> run;
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
  void Run(const EntryPtr& entry);
  void Finish(const EntryPtr& entry, const ProbeReply& reply);

  const Options options_;
  const Context ctx_;
  Clock& clock_;
  mutable Mutex mu_;
  std::map<Key, EntryPtr> probes_ COX_GUARDED_BY(mu_);
  std::multimap<Clock::SteadyTime, EntryPtr> queue_ COX_GUARDED_BY(mu_);
  std::mt19937_64 random_ COX_GUARDED_BY(mu_);
  CondVar changed_;
  MetricHandle metric_;
  WorkerPool pool_;
  Scope scope_;
};

}  // namespace cox::kubelet

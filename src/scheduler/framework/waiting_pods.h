// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "scheduler/cache/pod_info.h"
#include "scheduler/framework/verdict.h"

namespace cox::scheduler {

// Pods that have a node and are not bound yet, because Permit plugins want to wait: for the rest of
// their group, for somebody's approval.
//
// Guarantees: `done` is called once: with success when all plugins that the Pod waits for have
//   allowed it; with a refusal when one rejects it or has waited for too long.
// Threads: all methods may be called concurrently, also by `done`, which runs on the thread that
//   decided or on one of the clock's and must not block. No thread waits with a Pod.
class WaitingPods {
 public:
  struct Wait {
    std::string plugin;
    Clock::Duration at_most{};
  };
  using Done = std::function<void(const Verdict&)>;

  explicit WaitingPods(Clock& clock) : clock_(clock) {}

  // REQUIRES: it waits for at least one plugin, and is not here yet
  void Add(PodInfoPtr pod, std::vector<Wait> waits, Done done);

  // For plugins. False if the Pod does not wait (for that plugin).
  bool Allow(const std::string& uid, std::string_view plugin);
  bool Reject(const std::string& uid, std::string_view plugin, const std::string& why);
  std::vector<PodInfoPtr> List() const;

  // Forgets all of them; nobody is told.
  void Clear();

 private:
  struct Entry {
    PodInfoPtr pod;
    std::vector<std::pair<std::string, Timer>> waits;
    Done done;
  };

  std::unique_ptr<Entry> TakeLocked(const std::string& uid) COX_REQUIRES(mu_);

  Clock& clock_;
  mutable Mutex mu_;
  std::unordered_map<std::string, std::unique_ptr<Entry>> pods_ COX_GUARDED_BY(mu_);  // by uid
};

}  // namespace cox::scheduler

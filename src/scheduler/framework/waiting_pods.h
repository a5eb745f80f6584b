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
#include "scheduler/framework/plugin_status.h"

namespace cox::scheduler {

// Pods that are assumed on a node and wait for Permit plugins, for example for the rest of their
// group or for an approval.
//
// Guarantees: `done` is called once: with success when all plugins that the Pod waits for have
//   allowed it; with a rejection when one rejects it or its timeout expires.
// Threads: all methods may be called concurrently, also by `done`, which runs on the thread of the
//   caller or of the clock and must not block. Waiting Pods use no threads.
class WaitingPods {
 public:
  struct Wait {
    std::string plugin;
    Clock::Duration at_most{};
  };
  using Done = std::function<void(const PluginStatus&)>;

  explicit WaitingPods(Clock& clock) : clock_(clock) {}

  // REQUIRES: the Pod waits for at least one plugin and was not added yet.
  void Add(PodInfoPtr pod, std::vector<Wait> waits, Done done);

  // For plugins. Return false if the Pod does not wait (for that plugin).
  bool Allow(const std::string& uid, std::string_view plugin);
  bool Reject(const std::string& uid, std::string_view plugin, const std::string& why);
  std::vector<PodInfoPtr> List() const;

  // Removes all Pods without calling `done`.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/config/profile.h"
#include "scheduler/framework/framework.h"

namespace cox::scheduler {

// Cached plugin results for Pods with one signature, by node. A result is valid while the node's
// generation is unchanged; all results are valid while the snapshot's epoch is unchanged. Replicas
// of a workload are usually scheduled in sequence, and each changes only one node, so only that
// node is evaluated again.
struct Memo {
  std::string signature;  // empty: for one cycle only
  uint64_t epoch = 0;

  CycleState state;
  bool pre_filtered = false;
  PreFilterResult pre_filter;
  std::vector<std::string> naming;  // plugins whose PreFilter restricted the nodes
  // Plugins of the profile's lists that returned Skip.
  std::vector<bool> skip_filter;
  bool pre_scored = false;
  std::vector<bool> skip_score;

  std::vector<uint64_t> filtered;  // generation of the result, by node
  std::vector<PluginStatus> verdicts;
  std::vector<uint64_t> scored;
  std::vector<int64_t> scores;  // of all scorers, by node

  void Reset(std::string new_signature, const Profile& profile, const Snapshot& nodes);
  // Resizes for added nodes.
  void Fit(const Profile& profile, const Snapshot& nodes);
};

// LRU cache of memos by signature.
// Threads: used by the scheduling thread only.
class Memos {
 public:
  static constexpr size_t kMax = 16;

  // Returns the memo for the Pod; creates it if necessary.
  Memo& For(const Profile& profile, const PodInfo& pod, const Snapshot& nodes);

 private:
  std::list<Memo> memos_;  // most recently used first
  Memo once_;
};

}  // namespace cox::scheduler

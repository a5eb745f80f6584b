// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/context.h"
#include "scheduler/config/profile.h"
#include "scheduler/cycle/diagnosis.h"
#include "scheduler/cycle/memo.h"
#include "scheduler/cycle/metrics.h"
#include "scheduler/framework/framework.h"

namespace cox::scheduler {

struct Decision {
  std::string node;  // empty: no node was found, for the reasons in `status` and `diagnosis`
  PluginStatus status;
  Diagnosis diagnosis;
  std::string nominated_node;  // the node where PostFilter preempted Pods
  size_t evaluated = 0;        // nodes that were filtered
  size_t feasible = 0;         // nodes that passed the filters

  bool ok() const { return !node.empty(); }
  // The text of the event and the condition.
  std::string Why() const;
};

// The number of feasible nodes after which filtering stops. 0 percent: 50 %, decreasing with the
// number of nodes to at least 5 %. Never fewer than 100 nodes.
size_t NodesToFind(int percentage, size_t nodes);

// Selects a node for one Pod: filters, scores, chooses. Uses only its arguments and the results
// cached between Pods.
//
// Pods are scheduled one at a time: each decision includes the previous one.
//
// Threads: used by the scheduling thread only.
class Cycle {
 public:
  // `metrics` may be null.
  Cycle(uint64_t seed, Metrics* metrics) : random_(seed), metrics_(metrics) {}

  Decision Decide(Context& ctx, const Profile& profile, const PodInfo& pod, const Snapshot& nodes);

 private:
  // The arguments of one call.
  struct Job {
    const Profile& profile;
    const PodInfo& pod;
    const Snapshot& nodes;
    Memo& memo;
    ProfileMetrics* metrics;  // may be null
  };

  void RunPreFilters(const Job& job) const;
  // Fills feasible_.
  void FindFeasible(const Job& job, Decision& decision);
  const PluginStatus& FilterOne(const Job& job, NodeIndex node) const;
  void RunPostFilters(Context& ctx, const Job& job, Decision& decision) const;
  void RunPreScorers(const Job& job) const;
  void ScoreOne(const Job& job, NodeIndex node) const;
  // Returns the node of feasible_ with the highest score; a random one of them if there are
  // several.
  NodeIndex Choose(const Job& job);
  static void Observe(const Job& job, Point point, const PluginStatus& status,
                      Clock::SteadyTime since, const Clock& clock);

  std::mt19937_64 random_;
  Metrics* const metrics_;
  Memos memos_;
  size_t next_start_ = 0;  // index into order() where filtering starts for the next Pod
  // Members to reuse their memory.
  std::vector<NodeIndex> feasible_;
  std::vector<int64_t> totals_;
  std::vector<int64_t> scores_;
};

}  // namespace cox::scheduler

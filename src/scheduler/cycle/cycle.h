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
  std::string node;  // empty: none, and `verdict` and `diagnosis` say why
  Verdict verdict;
  Diagnosis diagnosis;
  std::string nominated_node;  // where PostFilter has made room
  size_t evaluated = 0;        // nodes that were looked at
  size_t feasible = 0;         // of them, those that would do

  bool ok() const { return !node.empty(); }
  // The text of the event and the condition.
  std::string Why() const;
};

// How many of `nodes` that fit are enough to choose from. 0 percent: half of them, and less the
// more there are, but not below 5 %; never fewer than 100.
size_t NodesToFind(int percentage, size_t nodes);

// Finds the node for one Pod: filters, scores, chooses. Reads and writes nothing but its arguments
// and what it remembers between Pods.
//
// Pods are decided about one at a time: each decision sees the one before it.
// Threads: of the scheduling thread alone.
class Cycle {
 public:
  // `metrics` may be null.
  Cycle(uint64_t seed, Metrics* metrics) : random_(seed), metrics_(metrics) {}

  Decision Decide(Context& ctx, const Profile& profile, const PodInfo& pod, const Snapshot& nodes);

 private:
  // One call's worth of arguments.
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
  const Verdict& FilterOne(const Job& job, NodeIndex node) const;
  void RunPostFilters(Context& ctx, const Job& job, Decision& decision) const;
  void RunPreScorers(const Job& job) const;
  void ScoreOne(const Job& job, NodeIndex node) const;
  // The best of feasible_; one of the best, drawn, if there are several.
  NodeIndex Choose(const Job& job);
  static void Observe(const Job& job, Point point, const Verdict& verdict, Clock::SteadyTime since,
                      const Clock& clock);

  std::mt19937_64 random_;
  Metrics* const metrics_;
  Memos memos_;
  size_t next_start_ = 0;  // in the order of nodes, where the next Pod begins to look
  // Kept for their memory.
  std::vector<NodeIndex> feasible_;
  std::vector<int64_t> totals_;
  std::vector<int64_t> scores_;
};

}  // namespace cox::scheduler

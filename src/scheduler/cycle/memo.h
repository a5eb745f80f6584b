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

// What plugins have said about Pods of one signature, node by node, as long as it holds: an answer
// is good while the node's generation is that for which it was given, all of them while the
// snapshot's epoch is the same. Replicas of one workload come in rows; of a thousand nodes each
// changes one, and that one is asked about again.
struct Memo {
  std::string signature;  // empty: of one cycle only
  uint64_t epoch = 0;

  CycleState state;
  bool pre_filtered = false;
  PreFilterResult pre_filter;
  std::vector<std::string> naming;  // the plugins that have said which nodes come into question
  // Which plugins of the profile's lists have nothing to say.
  std::vector<bool> skip_filter;
  bool pre_scored = false;
  std::vector<bool> skip_score;

  std::vector<uint64_t> filtered;  // the generation, by node
  std::vector<Verdict> verdicts;
  std::vector<uint64_t> scored;
  std::vector<int64_t> scores;  // of all scorers, by node

  void Reset(std::string new_signature, const Profile& profile, const Snapshot& nodes);
  // Room for nodes that came.
  void Fit(const Profile& profile, const Snapshot& nodes);
};

// The memos of the last few signatures.
// Threads: of the scheduling thread alone.
class Memos {
 public:
  static constexpr size_t kMax = 16;

  // The one of the Pod, made if there is none.
  Memo& For(const Profile& profile, const PodInfo& pod, const Snapshot& nodes);

 private:
  std::list<Memo> memos_;  // the last used first
  Memo once_;
};

}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "scheduler/cache/pod_info.h"
#include "scheduler/cache/snapshot.h"
#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/cycle_state.h"
#include "scheduler/framework/verdict.h"

// The points of a Pod's way to its node at which plugins take part. A plugin implements those it
// has something to say at; plugins/registry.cc lists them all.
//
//   queue:    PreEnqueue, QueueSort
//   decision: PreFilter, Filter, PostFilter, PreScore, Score (with NormalizeScore)
//   binding:  Reserve, Permit, PreBind, Bind, PostBind
//
// Those of the decision run on one thread; those after Permit on several at once.
namespace cox::scheduler {

// Collects what of a Pod decides about a plugin's answers: Pods of equal signatures get equal
// answers for equal nodes, so these are worked out once for all of them.
class Signature {
 public:
  void Add(std::string_view part) {
    text_ += std::to_string(part.size());
    text_ += ':';
    text_ += part;
  }
  void Add(int64_t number) { Add(std::to_string(number)); }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;

  // Adds what its PreFilter, Filter, PreScore and Score read of the Pod. False: for this Pod they
  // depend on more than it and the one node they are asked about, such as Pods on other nodes;
  // nothing is remembered then. What concerns all nodes alike, images and which nodes there are, is
  // the snapshot's epoch, and may be read.
  virtual bool Sign(const PodInfo& pod, Signature& signature) const = 0;

  // After which events a Pod that it has refused may fit. Without any such a Pod waits until it is
  // tried again anyway, after five minutes.
  virtual std::vector<EventInterest> Events() const { return {}; }

  // Its place in CycleState, given by the profile.
  size_t slot() const { return slot_; }
  void set_slot(size_t slot) { slot_ = slot; }

 private:
  size_t slot_ = 0;
};

// Not ok: the Pod stays out of the queue until an event that the plugin waits for.
class PreEnqueuePlugin : public virtual Plugin {
 public:
  virtual Verdict PreEnqueue(const PodInfo& pod) const = 0;
};

// Which of two waiting Pods comes first. Just one in a scheduler, shared by its profiles.
class QueueSortPlugin : public virtual Plugin {
 public:
  struct Waiting {
    const PodInfo& pod;
    Clock::SteadyTime since;
  };
  virtual bool Less(const Waiting& a, const Waiting& b) const = 0;
};

struct PreFilterResult {
  Verdict verdict;  // kSkip: its Filter is not asked
  // Only these nodes come into question; none: all.
  std::optional<std::vector<std::string>> nodes;
};

class PreFilterPlugin : public virtual Plugin {
 public:
  virtual PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                                    const Snapshot& nodes) const = 0;
};

class FilterPlugin : public virtual Plugin {
 public:
  virtual Verdict Filter(const CycleState& state, const PodInfo& pod, const Snapshot& nodes,
                         NodeIndex node) const = 0;
};

// Asked when no node was left: makes room, or says that it cannot. Success names a node that will
// be free.
struct PostFilterResult {
  Verdict verdict;
  std::string nominated_node;
};
class PostFilterPlugin : public virtual Plugin {
 public:
  using Refusals = std::span<const std::pair<NodeIndex, Verdict>>;
  virtual PostFilterResult PostFilter(Context& ctx, CycleState& state, const PodInfo& pod,
                                      const Snapshot& nodes, Refusals refusals) = 0;
};

class PreScorePlugin : public virtual Plugin {
 public:
  // kSkip: its Score is not asked.
  virtual Verdict PreScore(CycleState& state, const PodInfo& pod, const Snapshot& nodes,
                           std::span<const NodeIndex> feasible) const = 0;
};

inline constexpr int64_t kMaxNodeScore = 100;

class ScorePlugin : public virtual Plugin {
 public:
  virtual int64_t Score(const CycleState& state, const PodInfo& pod, const Snapshot& nodes,
                        NodeIndex node) const = 0;
  // Brings the scores of all nodes that were asked about to 0 .. kMaxNodeScore. Does nothing by
  // default: Score has done it.
  virtual void NormalizeScore(std::span<int64_t>) const {}
};
// The best gets kMaxNodeScore, the others their share; reversed, the least is best.
void NormalizeByMax(std::span<int64_t> scores, bool reverse);

class ReservePlugin : public virtual Plugin {
 public:
  virtual Verdict Reserve(CycleState& state, const PodInfo& pod, const std::string& node) = 0;
  // Must take back whatever Reserve did, also if that was not called or failed.
  virtual void Unreserve(CycleState& state, const PodInfo& pod, const std::string& node) = 0;
};

// kWait: the Pod waits until the plugin allows or rejects it (PluginHandle::waiting), or that long.
struct PermitResult {
  Verdict verdict;
  Clock::Duration at_most{};
};
class PermitPlugin : public virtual Plugin {
 public:
  virtual PermitResult Permit(CycleState& state, const PodInfo& pod, const std::string& node) = 0;
};

class PreBindPlugin : public virtual Plugin {
 public:
  virtual Verdict PreBind(Context& ctx, CycleState& state, const PodInfo& pod,
                          const std::string& node) = 0;
};

// kSkip: not mine, ask the next.
class BindPlugin : public virtual Plugin {
 public:
  virtual Verdict Bind(Context& ctx, const PodInfo& pod, const std::string& node) = 0;
};

class PostBindPlugin : public virtual Plugin {
 public:
  virtual void PostBind(Context& ctx, const PodInfo& pod, const std::string& node) = 0;
};

}  // namespace cox::scheduler

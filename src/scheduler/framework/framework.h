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
#include "scheduler/framework/plugin_status.h"

// The extension points of the scheduling framework. A plugin implements those that it needs;
// plugins/registry.cc lists all plugins.
//
//   queue:    PreEnqueue, QueueSort
//   decision: PreFilter, Filter, PostFilter, PreScore, Score (with NormalizeScore)
//   binding:  Reserve, Permit, PreBind, Bind, PostBind
//
// The decision runs on one thread; the points after Permit run on several threads.
namespace cox::scheduler {

// Collects the Pod fields that determine plugin results: Pods with equal signatures get equal
// results for equal nodes, so these are computed once.
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

  // Adds the Pod fields that its PreFilter, Filter, PreScore and Score read. Returns false if the
  // results for this Pod depend on more than the Pod and the evaluated node, such as Pods on other
  // nodes; then nothing is cached. State that affects all nodes (images, the set of nodes) is
  // covered by the snapshot's epoch and may be read.
  virtual bool Sign(const PodInfo& pod, Signature& signature) const = 0;

  // Events after which a Pod that the plugin rejected may be schedulable. Without any, the Pod is
  // retried after five minutes.
  virtual std::vector<EventInterest> Events() const { return {}; }

  // Its slot in CycleState, assigned by the profile.
  size_t slot() const { return slot_; }
  void set_slot(size_t slot) { slot_ = slot; }

 private:
  size_t slot_ = 0;
};

// If the status is not ok, the Pod is not queued until an event that the plugin is interested in.
class PreEnqueuePlugin : public virtual Plugin {
 public:
  virtual PluginStatus PreEnqueue(const PodInfo& pod) const = 0;
};

// Orders the queue. There is one per scheduler, shared by its profiles.
class QueueSortPlugin : public virtual Plugin {
 public:
  struct Waiting {
    const PodInfo& pod;
    Clock::SteadyTime since;
  };
  virtual bool Less(const Waiting& a, const Waiting& b) const = 0;
};

struct PreFilterResult {
  PluginStatus status;  // kSkip: its Filter is not called
  // Restricts the candidates to these nodes; none: all nodes.
  std::optional<std::vector<std::string>> nodes;
};

class PreFilterPlugin : public virtual Plugin {
 public:
  virtual PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                                    const Snapshot& nodes) const = 0;
};

class FilterPlugin : public virtual Plugin {
 public:
  virtual PluginStatus Filter(const CycleState& state, const PodInfo& pod, const Snapshot& nodes,
                              NodeIndex node) const = 0;
};

// Called when no node is feasible: preempts Pods, if possible. On success, nominated_node is the
// node that will have room.
struct PostFilterResult {
  PluginStatus status;
  std::string nominated_node;
};
class PostFilterPlugin : public virtual Plugin {
 public:
  using Rejections = std::span<const std::pair<NodeIndex, PluginStatus>>;
  virtual PostFilterResult PostFilter(Context& ctx, CycleState& state, const PodInfo& pod,
                                      const Snapshot& nodes, Rejections rejections) = 0;
};

class PreScorePlugin : public virtual Plugin {
 public:
  // kSkip: its Score is not called.
  virtual PluginStatus PreScore(CycleState& state, const PodInfo& pod, const Snapshot& nodes,
                                std::span<const NodeIndex> feasible) const = 0;
};

inline constexpr int64_t kMaxNodeScore = 100;

class ScorePlugin : public virtual Plugin {
 public:
  virtual int64_t Score(const CycleState& state, const PodInfo& pod, const Snapshot& nodes,
                        NodeIndex node) const = 0;
  // Normalizes the scores of all evaluated nodes to 0 .. kMaxNodeScore. The default does nothing:
  // Score returns normalized values.
  virtual void NormalizeScore(std::span<int64_t>) const {}
};
// Scales the scores so that the maximum becomes kMaxNodeScore; reversed, the lowest is best.
void NormalizeByMax(std::span<int64_t> scores, bool reverse);

class ReservePlugin : public virtual Plugin {
 public:
  virtual PluginStatus Reserve(CycleState& state, const PodInfo& pod, const std::string& node) = 0;
  // Must undo Reserve, and must be safe to call if Reserve was not called or failed.
  virtual void Unreserve(CycleState& state, const PodInfo& pod, const std::string& node) = 0;
};

// kWait: the Pod waits until the plugin allows or rejects it (PluginHandle::waiting), or for
// `at_most`.
struct PermitResult {
  PluginStatus status;
  Clock::Duration at_most{};
};
class PermitPlugin : public virtual Plugin {
 public:
  virtual PermitResult Permit(CycleState& state, const PodInfo& pod, const std::string& node) = 0;
};

class PreBindPlugin : public virtual Plugin {
 public:
  virtual PluginStatus PreBind(Context& ctx, CycleState& state, const PodInfo& pod,
                               const std::string& node) = 0;
};

// kSkip: the plugin does not bind this Pod, the next one is called.
class BindPlugin : public virtual Plugin {
 public:
  virtual PluginStatus Bind(Context& ctx, const PodInfo& pod, const std::string& node) = 0;
};

class PostBindPlugin : public virtual Plugin {
 public:
  virtual void PostBind(Context& ctx, const PodInfo& pod, const std::string& node) = 0;
};

}  // namespace cox::scheduler

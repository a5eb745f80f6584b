// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "scheduler/config/options.h"
#include "scheduler/framework/framework.h"
#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {

// The plugins of one profile by extension point.
//
// Threads: immutable; the Run methods may be called concurrently for different Pods.
class Profile {
 public:
  struct Scorer {
    const ScorePlugin* plugin;
    int64_t weight;
  };

  // Returns BadRequest for an unknown plugin, or if QueueSort or Bind is missing.
  static Result<std::unique_ptr<Profile>> Create(const ProfileOptions& options,
                                                 const PluginHandle& handle);
  // With the caller's plugins and their weights.
  static Result<std::unique_ptr<Profile>> Create(
      const ProfileOptions& options,
      std::vector<std::pair<std::unique_ptr<Plugin>, int64_t>> plugins);

  const std::string& name() const { return options_.scheduler_name; }
  int percentage_of_nodes_to_score() const { return options_.percentage_of_nodes_to_score; }
  size_t num_plugins() const { return plugins_.size(); }

  const std::vector<const PreEnqueuePlugin*>& pre_enqueue() const { return pre_enqueue_; }
  const QueueSortPlugin& queue_sort() const { return *queue_sort_; }
  const std::vector<const PreFilterPlugin*>& pre_filters() const { return pre_filters_; }
  const std::vector<const FilterPlugin*>& filters() const { return filters_; }
  const std::vector<PostFilterPlugin*>& post_filters() const { return post_filters_; }
  const std::vector<const PreScorePlugin*>& pre_scorers() const { return pre_scorers_; }
  const std::vector<Scorer>& scorers() const { return scorers_; }

  // The signature of the Pod for all plugins; empty: results for it must not be cached.
  std::string Sign(const PodInfo& pod) const;
  std::map<std::string, std::vector<EventInterest>, std::less<>> Events() const;
  PluginStatus RunPreEnqueue(const PodInfo& pod) const;

  // Each returns the first status that is not ok.
  PluginStatus RunReserve(CycleState& state, const PodInfo& pod, const std::string& node) const;
  void RunUnreserve(CycleState& state, const PodInfo& pod, const std::string& node) const;
  // kWait: `waits` contains the plugins and their timeouts.
  PluginStatus RunPermit(CycleState& state, const PodInfo& pod, const std::string& node,
                         std::vector<WaitingPods::Wait>& waits) const;
  PluginStatus RunPreBind(Context& ctx, CycleState& state, const PodInfo& pod,
                          const std::string& node) const;
  PluginStatus RunBind(Context& ctx, const PodInfo& pod, const std::string& node) const;
  void RunPostBind(Context& ctx, const PodInfo& pod, const std::string& node) const;

  explicit Profile(ProfileOptions options) : options_(std::move(options)) {}  // use Create

 private:
  void Add(std::unique_ptr<Plugin> plugin, int64_t weight);

  const ProfileOptions options_;
  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::vector<const PreEnqueuePlugin*> pre_enqueue_;
  const QueueSortPlugin* queue_sort_ = nullptr;
  std::vector<const PreFilterPlugin*> pre_filters_;
  std::vector<const FilterPlugin*> filters_;
  std::vector<PostFilterPlugin*> post_filters_;
  std::vector<const PreScorePlugin*> pre_scorers_;
  std::vector<Scorer> scorers_;
  std::vector<ReservePlugin*> reservers_;
  std::vector<PermitPlugin*> permits_;
  std::vector<PreBindPlugin*> pre_binders_;
  std::vector<BindPlugin*> binders_;
  std::vector<PostBindPlugin*> post_binders_;
};

}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "scheduler/plugins/plugins.h"
#include "scheduler/plugins/tolerations.h"

namespace cox::scheduler {
namespace {

constexpr std::string_view kName = "TaintToleration";

// Results by taint set: nodes share few sets, and each is evaluated once per Pod.
struct Judged final : CycleState::Data {
  struct Set {
    PluginStatus status;
    int64_t avoided = 0;
  };
  Judged(List<core::v1::Toleration> of, const Snapshot& nodes) : tolerations(std::move(of)) {
    Extend(nodes);
  }

  // Evaluates the sets that were added since the last call.
  void Extend(const Snapshot& nodes) const {
    for (size_t set = sets.size(); set < nodes.num_taint_sets(); ++set) {
      const auto& taints = nodes.taints(static_cast<Snapshot::TaintSet>(set));
      Set& judged = sets.emplace_back();
      judged.avoided = CountUntoleratedPreferences(tolerations, taints);
      if (const auto* taint = FirstUntolerated(tolerations, taints)) {
        judged.status = PluginStatus::Unresolvable(
            kName, "node(s) had untolerated taint {" + taint->key + ": " + taint->value + "}");
      }
    }
  }
  const Set& Of(const Snapshot& nodes, NodeIndex node) const {
    const Snapshot::TaintSet set = nodes.taint_set(node);
    if (set >= sets.size()) Extend(nodes);
    return sets[set];
  }

  // A copy, because the state outlives the first Pod with this signature.
  const List<core::v1::Toleration> tolerations;
  mutable std::deque<Set> sets;
};

bool Fits(const PodInfo& pod, const core::v1::Node& node) {
  return FirstUntolerated(pod.pod->spec.tolerations, node.spec.taints) == nullptr;
}

class TaintToleration final : public PreFilterPlugin, public FilterPlugin, public ScorePlugin {
 public:
  std::string_view name() const override { return kName; }
  bool Sign(const PodInfo& pod, Signature& signature) const override {
    SignTolerations(*pod.pod, signature);
    return true;
  }
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& nodes) const override {
    state.Put(slot(), std::make_unique<Judged>(pod.pod->spec.tolerations, nodes));
    return {};
  }
  PluginStatus Filter(const CycleState& state, const PodInfo&, const Snapshot& nodes,
                      NodeIndex node) const override {
    return state.Get<Judged>(slot())->Of(nodes, node).status;
  }
  int64_t Score(const CycleState& state, const PodInfo&, const Snapshot& nodes,
                NodeIndex node) const override {
    return state.Get<Judged>(slot())->Of(nodes, node).avoided;
  }
  void NormalizeScore(std::span<int64_t> scores) const override { NormalizeByMax(scores, true); }

  std::vector<EventInterest> Events() const override {
    return {{.bits = kNodeAdd | kNodeUpdateTaint,
             .hint =
                 [](const PodInfo& pod, const ClusterEvent& event) {
                   if (event.new_node == nullptr) return true;
                   const bool did = event.old_node != nullptr && Fits(pod, *event.old_node);
                   return !did && Fits(pod, *event.new_node);
                 }},
            {.bits = kPodUpdateToleration, .hint = nullptr}};
  }
};

}  // namespace

std::unique_ptr<Plugin> NewTaintToleration(const PluginHandle&) {
  return std::make_unique<TaintToleration>();
}

}  // namespace cox::scheduler

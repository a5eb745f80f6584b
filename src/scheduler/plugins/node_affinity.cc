// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "object/codec/protobuf/protobuf.h"
#include "object/core/node_selector.h"
#include "scheduler/plugins/node_selector.h"
#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

constexpr std::string_view kName = "NodeAffinity";

using core::v1::NodeAffinity;
using core::v1::NodeSelectorTerm;

const NodeAffinity* AffinityOf(const core::v1::Pod& pod) {
  return pod.spec.affinity ? pod.spec.affinity->nodeAffinity.get() : nullptr;
}
const core::v1::NodeSelector* RequiredOf(const core::v1::Pod& pod) {
  const NodeAffinity* affinity = AffinityOf(pod);
  return affinity == nullptr ? nullptr
                             : affinity->requiredDuringSchedulingIgnoredDuringExecution.get();
}

struct Compiled final : CycleState::Data {
  std::vector<CompiledTerm> selector;  // nodeSelector: all must match
  bool any_of = false;                 // whether `required` applies
  std::vector<CompiledTerm> required;  // one must match
  std::vector<std::pair<int64_t, CompiledTerm>> preferred;
};

std::unique_ptr<Compiled> Compile(const core::v1::Pod& pod, const Snapshot& nodes) {
  auto compiled = std::make_unique<Compiled>();
  if (!pod.spec.nodeSelector.empty()) {
    NodeSelectorTerm term;
    for (const auto& [key, value] : pod.spec.nodeSelector) {
      auto& requirement = term.matchExpressions.emplace_back();
      requirement.key = key;
      requirement.operator_ = "In";
      requirement.values = {value};
    }
    compiled->selector.emplace_back(term, nodes);
  }
  if (const core::v1::NodeSelector* required = RequiredOf(pod)) {
    compiled->any_of = true;
    for (const auto& term : required->nodeSelectorTerms)
      compiled->required.emplace_back(term, nodes);
  }
  if (const NodeAffinity* affinity = AffinityOf(pod)) {
    for (const auto& term : affinity->preferredDuringSchedulingIgnoredDuringExecution) {
      if (term.weight != 0) {
        compiled->preferred.emplace_back(term.weight, CompiledTerm(term.preference, nodes));
      }
    }
  }
  return compiled;
}

// Returns the node names if every term restricts metadata.name, as in Pods of DaemonSets.
std::optional<std::vector<std::string>> NamedNodes(const core::v1::Pod& pod) {
  const core::v1::NodeSelector* required = RequiredOf(pod);
  if (required == nullptr || required->nodeSelectorTerms.empty()) return std::nullopt;
  std::set<std::string> all;
  for (const NodeSelectorTerm& term : required->nodeSelectorTerms) {
    std::optional<std::set<std::string>> names;
    for (const auto& field : term.matchFields) {
      if (field.key != "metadata.name" || field.operator_ != "In") continue;
      const std::set<std::string> here(field.values.begin(), field.values.end());
      if (names) {
        std::erase_if(*names, [&](const std::string& name) { return !here.contains(name); });
      } else {
        names = here;
      }
    }
    if (!names) return std::nullopt;
    all.insert(names->begin(), names->end());
  }
  return std::vector<std::string>(all.begin(), all.end());
}

class NodeAffinityPlugin final : public PreFilterPlugin,
                                 public FilterPlugin,
                                 public PreScorePlugin,
                                 public ScorePlugin {
 public:
  std::string_view name() const override { return kName; }
  bool Sign(const PodInfo& pod, Signature& signature) const override {
    signature.Add(static_cast<int64_t>(pod.pod->spec.nodeSelector.size()));
    for (const auto& [key, value] : pod.pod->spec.nodeSelector) {
      signature.Add(key);
      signature.Add(value);
    }
    const NodeAffinity* affinity = AffinityOf(*pod.pod);
    signature.Add(affinity == nullptr ? "" : proto::Encode(*affinity));
    return true;
  }
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& nodes) const override {
    std::unique_ptr<Compiled> compiled = Compile(*pod.pod, nodes);
    const bool asked = !compiled->selector.empty() || compiled->any_of;
    state.Put(slot(), std::move(compiled));
    if (!asked) return {.status = PluginStatus::Skip(), .nodes = {}};
    PreFilterResult result{.status = {}, .nodes = NamedNodes(*pod.pod)};
    if (result.nodes && result.nodes->empty()) {
      result.status = PluginStatus::Unresolvable(kName, "pod affinity terms conflict");
    }
    return result;
  }
  PluginStatus Filter(const CycleState& state, const PodInfo&, const Snapshot& nodes,
                      NodeIndex node) const override {
    const auto& compiled = *state.Get<Compiled>(slot());
    const auto matches = [&](const CompiledTerm& term) { return term.Matches(nodes, node); };
    if (!std::all_of(compiled.selector.begin(), compiled.selector.end(), matches))
      return rejection_;
    if (!compiled.any_of) return {};
    return std::any_of(compiled.required.begin(), compiled.required.end(), matches) ? PluginStatus()
                                                                                    : rejection_;
  }
  PluginStatus PreScore(CycleState& state, const PodInfo&, const Snapshot&,
                        std::span<const NodeIndex>) const override {
    return state.Get<Compiled>(slot())->preferred.empty() ? PluginStatus::Skip() : PluginStatus();
  }
  int64_t Score(const CycleState& state, const PodInfo&, const Snapshot& nodes,
                NodeIndex node) const override {
    int64_t score = 0;
    for (const auto& [weight, term] : state.Get<Compiled>(slot())->preferred) {
      if (term.Matches(nodes, node)) score += weight;
    }
    return score;
  }
  void NormalizeScore(std::span<int64_t> scores) const override { NormalizeByMax(scores, false); }

  std::vector<EventInterest> Events() const override {
    return {{.bits = kNodeAdd | kNodeUpdateLabel,
             .hint = [](const PodInfo& pod, const ClusterEvent& event) {
               if (event.new_node == nullptr) return true;
               const bool did = event.old_node != nullptr &&
                                core_rules::MatchesRequired(*pod.pod, *event.old_node);
               return !did && core_rules::MatchesRequired(*pod.pod, *event.new_node);
             }}};
  }

 private:
  const PluginStatus rejection_ =
      PluginStatus::Unresolvable(kName, "node(s) didn't match Pod's node affinity/selector");
};

}  // namespace

std::unique_ptr<Plugin> NewNodeAffinity(const PluginHandle&) {
  return std::make_unique<NodeAffinityPlugin>();
}

}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

constexpr std::string_view kName = "NodeResourcesFit";

// The Pod's non-zero requests with the columns of their resources.
struct Wanted final : CycleState::Data {
  struct Item {
    int64_t amount;
    const ResourceColumn* column;
    std::string name;
  };
  std::vector<Item> items;

  // Cached statuses by shortage: bit 0 is the number of Pods, bit i + 1 is items[i].
  struct Rejection {
    uint64_t shortage;
    bool unresolvable;
    PluginStatus status;
  };
  mutable std::vector<Rejection> rejections;

  const PluginStatus& RefusalFor(uint64_t shortage, bool unresolvable) const {
    for (const Rejection& known : rejections) {
      if (known.shortage == shortage && known.unresolvable == unresolvable) return known.status;
    }
    std::vector<std::string> reasons;
    if ((shortage & 1) != 0) reasons.emplace_back("Too many pods");
    for (size_t i = 0; i < items.size(); ++i) {
      if ((shortage >> (i + 1) & 1) != 0) reasons.push_back("Insufficient " + items[i].name);
    }
    const Code code = unresolvable ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable;
    rejections.push_back({shortage, unresolvable, PluginStatus(code, kName, std::move(reasons))});
    return rejections.back().status;
  }
};

// Returns whether the Pod fits on the node without other Pods.
bool FitsEmpty(const PodInfo& pod, const core::v1::Node& node) {
  const Amounts has = Amounts::Of(node.status.allocatable);
  const Amounts& wants = pod.requests;
  return wants.milli_cpu <= has.milli_cpu && wants.memory <= has.memory &&
         wants.ephemeral_storage <= has.ephemeral_storage &&
         std::all_of(wants.extended.begin(), wants.extended.end(),
                     [&](const auto& entry) { return entry.second <= has.Get(entry.first); });
}

// Returns whether `freed` contains a resource that `wanted` needs.
bool SharesResource(const Amounts& wanted, const Amounts& freed) {
  if ((wanted.milli_cpu > 0 && freed.milli_cpu > 0) || (wanted.memory > 0 && freed.memory > 0) ||
      (wanted.ephemeral_storage > 0 && freed.ephemeral_storage > 0)) {
    return true;
  }
  return std::any_of(wanted.extended.begin(), wanted.extended.end(), [&](const auto& entry) {
    return entry.second > 0 && freed.Get(entry.first) > 0;
  });
}

bool AnyIncreased(const PodInfo& pod, const core::v1::Node& before, const core::v1::Node& after) {
  const auto pods = [](const core::v1::Node& node) {
    const Quantity* allowed = node.status.allocatable.Get("pods");
    return allowed == nullptr ? 0 : allowed->Value();
  };
  if (pods(after) > pods(before)) return true;
  Amounts grown = Amounts::Of(after.status.allocatable);
  grown.Sub(Amounts::Of(before.status.allocatable));
  return SharesResource(pod.requests, grown);
}

// The percentage of free resources with this Pod: 100 for an empty node.
int64_t LeastRequested(int64_t requested, int64_t allocatable) {
  return requested > allocatable ? 0 : (allocatable - requested) * kMaxNodeScore / allocatable;
}

// Requires sufficient free resources; prefers nodes with more free resources.
class NodeResourcesFit final : public PreFilterPlugin, public FilterPlugin, public ScorePlugin {
 public:
  std::string_view name() const override { return kName; }
  bool Sign(const PodInfo& pod, Signature& signature) const override {
    signature.Add(pod.requests.milli_cpu);
    signature.Add(pod.requests.memory);
    signature.Add(pod.requests.ephemeral_storage);
    signature.Add(pod.score_milli_cpu);
    signature.Add(pod.score_memory);
    for (const auto& [name, value] : pod.requests.extended) {
      signature.Add(name);
      signature.Add(value);
    }
    return true;
  }
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& nodes) const override {
    auto wanted = std::make_unique<Wanted>();
    const auto want = [&](int64_t amount, const ResourceColumn& column, std::string name) {
      if (amount > 0) wanted->items.push_back({amount, &column, std::move(name)});
    };
    want(pod.requests.milli_cpu, nodes.cpu(), "cpu");
    want(pod.requests.memory, nodes.memory(), "memory");
    want(pod.requests.ephemeral_storage, nodes.ephemeral_storage(), "ephemeral-storage");
    for (const auto& [name, value] : pod.requests.extended) want(value, nodes.extended(name), name);
    const bool too_many = wanted->items.size() > 62;
    state.Put(slot(), std::move(wanted));
    if (!too_many) return {};
    return {.status = PluginStatus::Unresolvable(kName, "Too many different resources"),
            .nodes = {}};
  }
  PluginStatus Filter(const CycleState& state, const PodInfo&, const Snapshot& nodes,
                      NodeIndex node) const override {
    const auto& wanted = *state.Get<Wanted>(slot());
    uint64_t shortage = nodes.pods().free(node) < 1 ? 1 : 0;
    bool unresolvable = false;
    for (size_t i = 0; i < wanted.items.size(); ++i) {
      const Wanted::Item& item = wanted.items[i];
      if (item.amount <= item.column->free(node)) continue;
      shortage |= uint64_t{2} << i;
      unresolvable |= item.amount > item.column->allocatable[node];
    }
    return shortage == 0 ? PluginStatus() : wanted.RefusalFor(shortage, unresolvable);
  }
  // LeastAllocated with equal weights for cpu and memory.
  int64_t Score(const CycleState&, const PodInfo& pod, const Snapshot& nodes,
                NodeIndex node) const override {
    int64_t score = 0;
    int64_t weights = 0;
    const int64_t cpu = nodes.cpu().allocatable[node];
    const int64_t memory = nodes.memory().allocatable[node];
    if (cpu > 0) {
      score += LeastRequested(nodes.score_milli_cpu(node) + pod.score_milli_cpu, cpu);
      ++weights;
    }
    if (memory > 0) {
      score += LeastRequested(nodes.score_memory(node) + pod.score_memory, memory);
      ++weights;
    }
    return weights == 0 ? 0 : score / weights;
  }

  std::vector<EventInterest> Events() const override {
    return {
        {.bits = kAssignedPodDelete | kAssignedPodScaleDown, .hint = PodHelps},
        {.bits = kNodeAdd | kNodeUpdateAllocatable,
         .hint =
             [](const PodInfo& pod, const ClusterEvent& event) {
               if (event.new_node == nullptr) return true;
               if (!FitsEmpty(pod, *event.new_node)) return false;
               return event.old_node == nullptr ||
                      AnyIncreased(pod, *event.old_node, *event.new_node);
             }},
        {.bits = kPodScaleDown, .hint = nullptr},
    };
  }

 private:
  static bool PodHelps(const PodInfo& pod, const ClusterEvent& event) {
    if (event.old_pod == nullptr) return true;
    if ((event.bits & kAssignedPodDelete) != 0) return true;  // frees at least one Pod slot
    return SharesResource(pod.requests, event.old_pod->requests);
  }
};

}  // namespace

std::unique_ptr<Plugin> NewNodeResourcesFit(const PluginHandle&) {
  return std::make_unique<NodeResourcesFit>();
}

}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

constexpr int64_t kMB = 1024 * 1024;
// Below the minimum, the pull time is irrelevant; above the maximum, the score does not increase.
constexpr int64_t kMinThreshold = 23 * kMB;
constexpr int64_t kMaxThreshold = 1000 * kMB;  // per container

struct Wanted final : CycleState::Data {
  struct Item {
    const Images::Image* image;
    // The size, scaled by the share of nodes that have the image, so that not all Pods go to
    // the few nodes that have it.
    int64_t worth;
  };
  std::vector<Item> items;
  int64_t containers = 0;
};

// Prefers nodes that have the Pod's images.
class ImageLocality final : public PreScorePlugin, public ScorePlugin {
 public:
  std::string_view name() const override { return "ImageLocality"; }
  bool Sign(const PodInfo& pod, Signature& signature) const override {
    for (const auto* containers : {&pod.pod->spec.initContainers, &pod.pod->spec.containers}) {
      signature.Add(static_cast<int64_t>(containers->size()));
      for (const auto& container : *containers) signature.Add(container.image);
    }
    return true;
  }
  PluginStatus PreScore(CycleState& state, const PodInfo& pod, const Snapshot& nodes,
                        std::span<const NodeIndex>) const override {
    auto wanted = std::make_unique<Wanted>();
    for (const auto* containers : {&pod.pod->spec.initContainers, &pod.pod->spec.containers}) {
      for (const auto& container : *containers) {
        ++wanted->containers;
        const auto* image = nodes.images().Find(NormalizedImageName(container.image));
        if (image == nullptr) continue;
        const double spread =
            static_cast<double>(image->nodes) / static_cast<double>(nodes.num_nodes());
        wanted->items.push_back(
            {image, static_cast<int64_t>(static_cast<double>(image->size) * spread)});
      }
    }
    const bool nowhere = wanted->items.empty();
    state.Put(slot(), std::move(wanted));
    // Equal scores for all nodes are skipped.
    return nowhere ? PluginStatus::Skip() : PluginStatus();
  }
  int64_t Score(const CycleState& state, const PodInfo&, const Snapshot&,
                NodeIndex node) const override {
    const auto& wanted = *state.Get<Wanted>(slot());
    int64_t sum = 0;
    for (const Wanted::Item& item : wanted.items) sum += item.image->On(node) ? item.worth : 0;
    const int64_t max = kMaxThreshold * wanted.containers;
    sum = std::clamp(sum, kMinThreshold, max);
    return kMaxNodeScore * (sum - kMinThreshold) / (max - kMinThreshold);
  }
};

}  // namespace

std::unique_ptr<Plugin> NewImageLocality(const PluginHandle&) {
  return std::make_unique<ImageLocality>();
}

}  // namespace cox::scheduler

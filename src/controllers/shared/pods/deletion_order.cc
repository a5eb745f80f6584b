// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/deletion_order.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "object/core/containers.h"

namespace cox::controllers::pods {
namespace {

using core::v1::Pod;

// The sort key; lower ranks are deleted first.
struct Rank {
  bool assigned = false;
  int phase = 0;
  bool ready = false;
  int32_t cost = 0;
  int neighbours = 0;    // negative: higher counts are deleted first
  int ready_for = 0;     // powers of two
  int64_t restarts = 0;  // negative
  int64_t sidecar_restarts = 0;
  int age = 0;  // powers of two
  std::string_view uid;
  size_t index = 0;

  auto Key() const {
    return std::tie(assigned, phase, ready, cost, neighbours, ready_for, restarts, sidecar_restarts,
                    age, uid);
  }
};

int PhaseRank(const Pod& pod) {
  if (pod.status.phase == core::v1::kPodRunning) return 2;
  return pod.status.phase == core::v1::kPodUnknown ? 1 : 0;
}

int32_t CostOf(const Pod& pod) {
  const std::string* text = pod.metadata.annotations.Get(kDeletionCost);
  if (text == nullptr) return 0;
  int32_t cost = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), cost);
  return error == std::errc() && end == text->data() + text->size() ? cost : 0;
}

// The bit width of the elapsed nanoseconds; 0 for future and unknown times.
int PowerSince(const Time& time, const Time& now) {
  if (time.IsZero()) return 0;
  const int64_t nanos = (now - time).nanos;
  return nanos <= 0 ? 0 : std::bit_width(static_cast<uint64_t>(nanos));
}

bool IsSidecar(const Pod& pod, std::string_view container) {
  return std::any_of(pod.spec.initContainers.begin(), pod.spec.initContainers.end(),
                     [container](const core::v1::Container& init) {
                       return init.name == container && core_rules::IsSidecar(init);
                     });
}

Rank RankOf(const Pod& pod, const Time& now) {
  Rank rank;
  rank.assigned = !pod.spec.nodeName.empty();
  rank.phase = PhaseRank(pod);
  rank.cost = CostOf(pod);
  const std::optional<Time> ready_since = ReadySince(pod);
  rank.ready = ready_since.has_value();
  if (ready_since) rank.ready_for = PowerSince(*ready_since, now);
  for (const core::v1::ContainerStatus& status : pod.status.containerStatuses) {
    rank.restarts = std::min<int64_t>(rank.restarts, -status.restartCount);
  }
  for (const core::v1::ContainerStatus& status : pod.status.initContainerStatuses) {
    if (status.restartCount > 0 && IsSidecar(pod, status.name)) {
      rank.sidecar_restarts = std::min<int64_t>(rank.sidecar_restarts, -status.restartCount);
    }
  }
  rank.age = PowerSince(pod.metadata.creationTimestamp, now);
  rank.uid = pod.metadata.uid;
  return rank;
}

}  // namespace

std::vector<PodPtr> PodsToDelete(std::vector<PodPtr> pods, const std::vector<PodPtr>& related,
                                 size_t count, const Time& now) {
  if (count >= pods.size()) return pods;
  std::unordered_map<std::string_view, int> on_node;
  for (const PodPtr& pod : related) {
    if (IsActive(*pod) && !pod->spec.nodeName.empty()) ++on_node[pod->spec.nodeName];
  }
  std::vector<Rank> ranks;
  ranks.reserve(pods.size());
  for (size_t i = 0; i < pods.size(); ++i) {
    ranks.push_back(RankOf(*pods[i], now));
    ranks.back().index = i;
    if (ranks.back().assigned) ranks.back().neighbours = -on_node[pods[i]->spec.nodeName];
  }
  std::partial_sort(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count), ranks.end(),
                    [](const Rank& a, const Rank& b) { return a.Key() < b.Key(); });
  std::vector<PodPtr> chosen;
  chosen.reserve(count);
  for (size_t i = 0; i < count; ++i) chosen.push_back(pods[ranks[i].index]);
  return chosen;
}

}  // namespace cox::controllers::pods

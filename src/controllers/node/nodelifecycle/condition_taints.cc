// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodelifecycle/condition_taints.h"

#include <algorithm>
#include <string>

#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

using core::v1::kTaintEffectNoExecute;
using core::v1::kTaintEffectNoSchedule;
using core::v1::Node;
using core::v1::Taint;

constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

struct ConditionTaint {
  std::string_view condition;
  std::string_view status;
  std::string_view taint;
};
constexpr ConditionTaint kConditionTaints[] = {
    {"Ready", "False", kNotReadyTaint},
    {"Ready", "Unknown", kUnreachableTaint},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
};

// Returns whether the node should have a NoSchedule taint with this key; nullopt if the key is not
// managed here.
std::optional<bool> WantsNoSchedule(const Node& node, std::string_view key) {
  if (key == kUnschedulableTaint) return node.spec.unschedulable;
  bool ours = false;
  for (const ConditionTaint& entry : kConditionTaints) {
    if (entry.taint != key) continue;
    ours = true;
    const auto* condition = FindCondition(node.status.conditions, entry.condition);
    if (condition != nullptr && condition->status == entry.status) return true;
    // Added at the node's creation: kept until the node reports its Ready condition.
    if (condition == nullptr && key == kNotReadyTaint) return std::nullopt;
  }
  return ours ? std::optional<bool>(false) : std::nullopt;
}

bool IsEvicting(const Taint& taint) {
  return taint.effect == kTaintEffectNoExecute &&
         (taint.key == kNotReadyTaint || taint.key == kUnreachableTaint);
}

void Add(std::string_view key, const char* effect, const Time& now, List<Taint>& taints) {
  const bool there = std::any_of(taints.begin(), taints.end(), [&](const Taint& taint) {
    return taint.key == key && taint.effect == effect;
  });
  if (!there) taints.push_back({.key = std::string(key), .effect = effect, .timeAdded = now});
}

}  // namespace

std::string_view ReadyStatus(const Node& node) {
  const auto* ready = FindCondition(node.status.conditions, core::v1::kNodeReady);
  return ready == nullptr ? std::string_view() : std::string_view(ready->status);
}

std::string_view EvictingTaint(const Node& node) {
  const std::string_view ready = ReadyStatus(node);
  if (ready == core::v1::kConditionFalse) return kNotReadyTaint;
  if (ready == core::v1::kConditionUnknown) return kUnreachableTaint;
  return {};
}

bool HasEvictingTaint(const Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(), IsEvicting);
}

List<Taint> TaintsFor(const Node& node, Eviction eviction, const Time& now) {
  const bool had = HasEvictingTaint(node);
  const std::string_view ready = ReadyStatus(node);
  std::string_view evicting = EvictingTaint(node);
  if (eviction == Eviction::kNone || (eviction == Eviction::kNoMore && !had)) evicting = {};
  List<Taint> taints;
  for (const Taint& taint : node.spec.taints) {
    const bool not_reported = ready.empty() && eviction != Eviction::kNone;
    if (IsEvicting(taint) && taint.key != evicting && !not_reported) continue;
    if (taint.effect == kTaintEffectNoSchedule && WantsNoSchedule(node, taint.key) == false) {
      continue;
    }
    taints.push_back(taint);
  }
  for (const ConditionTaint& entry : kConditionTaints) {
    if (WantsNoSchedule(node, entry.taint) == true) {
      Add(entry.taint, kTaintEffectNoSchedule, now, taints);
    }
  }
  if (node.spec.unschedulable) Add(kUnschedulableTaint, kTaintEffectNoSchedule, now, taints);
  if (!evicting.empty()) Add(evicting, kTaintEffectNoExecute, now, taints);
  return taints;
}

}  // namespace cox::controllers

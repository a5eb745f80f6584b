// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <string_view>
#include <utility>
#include <vector>

#include "api/meta/v1.h"
#include "base/clock.h"
#include "object/type/equal.h"

// Conditions of a status: one entry per type ("Ready", "Available").
//
//   const bool changed = SetCondition(website.status.conditions,
//                                     {.type = "Ready",
//                                      .status = "True",
//                                      .observedGeneration = website.metadata.generation,
//                                      .reason = "AllReplicasUp",
//                                      .message = "3 of 3"},
//                                     TimeNow(ctx.clock()));
//   if (changed) client.UpdateStatus(ctx, website);
//
// Works with metav1.Condition and with the older kind-specific structs (PodCondition,
// DeploymentCondition, NodeCondition).
// Threads: those of the list that is passed.
namespace cox {

template <class C>
concept ConditionStruct = requires(C condition) {
  { condition.type } -> std::convertible_to<std::string_view>;
  { condition.status } -> std::convertible_to<std::string_view>;
  requires std::same_as<decltype(condition.lastTransitionTime), Time>;
};

// The current time truncated to whole seconds, the precision of the API.
inline Time TimeNow(const Clock& clock) {
  const auto since = std::chrono::floor<std::chrono::seconds>(clock.Now().time_since_epoch());
  return Time::FromUnix(since.count());
}

// A List or std::vector of conditions.
template <class L>
concept ConditionList = ConditionStruct<typename std::remove_cvref_t<L>::value_type>;

// Null if there is no condition of that type.
template <ConditionList L>
auto* FindCondition(L&& conditions, std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [type](const auto& condition) { return condition.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

// True if the condition exists and is "True".
template <ConditionList L>
bool IsTrue(const L& conditions, std::string_view type) {
  const auto* condition = FindCondition(conditions, type);
  return condition != nullptr && condition->status == "True";
}

// Adds `wanted`, or replaces the condition of the same type. Returns false if nothing changed, so
// that no write is needed.
//
// lastTransitionTime changes only when the status changes, not with reason, message or
// observedGeneration. On a change, a time that the caller set in `wanted` is used instead of `now`.
// lastUpdateTime, if the struct has it, is set on every change; lastProbeTime and lastHeartbeatTime
// are taken from `wanted`.
template <ConditionList L>
bool SetCondition(L& conditions, typename L::value_type wanted, const Time& now) {
  auto* present = FindCondition(conditions, wanted.type);
  if (present != nullptr && present->status == wanted.status) {
    wanted.lastTransitionTime = present->lastTransitionTime;
  } else if (wanted.lastTransitionTime.IsZero()) {
    wanted.lastTransitionTime = now;
  }
  if constexpr (requires { wanted.lastUpdateTime; }) {
    if (present != nullptr) wanted.lastUpdateTime = present->lastUpdateTime;
  }
  if (present != nullptr && DeepEqual(*present, wanted)) return false;
  if constexpr (requires { wanted.lastUpdateTime; }) wanted.lastUpdateTime = now;
  if (present == nullptr) {
    conditions.push_back(std::move(wanted));
  } else {
    *present = std::move(wanted);
  }
  return true;
}

// True if a condition was removed.
template <ConditionList L>
bool RemoveCondition(L& conditions, std::string_view type) {
  using std::erase_if;
  return erase_if(conditions, [type](const auto& condition) { return condition.type == type; }) > 0;
}

}  // namespace cox

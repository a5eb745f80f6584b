// SPDX-License-Identifier: Apache-2.0
#include "scheduler/failure.h"

#include <utility>

#include "coxswain/conditions.h"
#include "object/codec/json/json.h"

namespace cox::scheduler {
namespace {

constexpr size_t kNoteLimit = 1024;

}  // namespace

core::v1::PodCondition NotScheduled(const core::v1::Pod& pod, const PluginStatus& plugin_status,
                                    std::string message, const Time& now) {
  core::v1::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = plugin_status.rejected() ? "Unschedulable" : "SchedulerError";
  condition.message = std::move(message);
  condition.observedGeneration = pod.metadata.generation;
  const core::v1::PodCondition* present = FindCondition(pod.status.conditions, "PodScheduled");
  const bool since = present != nullptr && present->status == condition.status;
  condition.lastTransitionTime = since ? present->lastTransitionTime : now;
  return condition;
}

std::optional<Patch> StatusPatch(const core::v1::Pod& pod, const core::v1::PodCondition& condition,
                                 const std::string& nominated_node) {
  const core::v1::PodCondition* present = FindCondition(pod.status.conditions, condition.type);
  const bool nominate = !nominated_node.empty() && nominated_node != pod.status.nominatedNodeName;
  if (present != nullptr && DeepEqual(*present, condition) && !nominate) return std::nullopt;
  std::string body = R"({"metadata":{"uid":)";
  json::WriteString(pod.metadata.uid, &body);
  if (!pod.metadata.resourceVersion.empty()) {
    body += R"(,"resourceVersion":)";
    json::WriteString(pod.metadata.resourceVersion, &body);
  }
  body += R"(},"status":{"conditions":[)";
  json::Encode(core::v1::PodCondition::kType, &condition, &body);
  body += "]";
  if (nominate) {
    body += R"(,"nominatedNodeName":)";
    json::WriteString(nominated_node, &body);
  }
  body += "}}";
  return Patch::Strategic(std::move(body));
}

std::string CutNote(std::string note) {
  if (note.size() <= kNoteLimit) return note;
  constexpr std::string_view kMore = " ...";
  note.resize(kNoteLimit - kMore.size());
  return note.append(kMore);
}

}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/rules/policies.h"

#include <algorithm>
#include <vector>

#include "controllers/workload/job/pods/job_pod.h"

namespace cox::controllers {
namespace {

using batch::v1::Job;
using batch::v1::PodFailurePolicyOnExitCodesRequirement;
using batch::v1::PodFailurePolicyRule;
using core::v1::ContainerStatus;
using core::v1::Pod;

const ContainerStatus* MatchExitCodes(const PodFailurePolicyOnExitCodesRequirement& wanted,
                                      const Pod& pod) {
  const bool in = wanted.operator_ == batch::v1::kPodFailurePolicyOnExitCodesOpIn;
  for (const auto* statuses : {&pod.status.containerStatuses, &pod.status.initContainerStatuses}) {
    for (const ContainerStatus& status : *statuses) {
      if (wanted.containerName.has_value() && *wanted.containerName != status.name) continue;
      // Exit code 0 never matches, not even with NotIn.
      if (!status.state.terminated || status.state.terminated->exitCode == 0) continue;
      const bool listed = std::find(wanted.values.begin(), wanted.values.end(),
                                    status.state.terminated->exitCode) != wanted.values.end();
      if (listed == in) return &status;
    }
  }
  return nullptr;
}

const core::v1::PodCondition* MatchConditions(const PodFailurePolicyRule& rule, const Pod& pod) {
  for (const auto& pattern : rule.onPodConditions) {
    for (const core::v1::PodCondition& condition : pod.status.conditions) {
      const std::string status = pattern.status.empty() ? "True" : pattern.status;
      if (condition.type == pattern.type && condition.status == status) return &condition;
    }
  }
  return nullptr;
}

// Returns the message for a matching rule; nullopt if it does not match.
std::optional<std::string> MatchRule(const PodFailurePolicyRule& rule, size_t number,
                                     const Pod& pod) {
  const std::string name = pod.metadata.namespace_ + "/" + pod.metadata.name;
  const std::string tail = " matching " + rule.action + " rule at index " + std::to_string(number);
  if (rule.onExitCodes) {
    if (const ContainerStatus* status = MatchExitCodes(*rule.onExitCodes, pod)) {
      return "Container " + status->name + " for pod " + name + " failed with exit code " +
             std::to_string(status->state.terminated->exitCode) + tail;
    }
    return std::nullopt;
  }
  if (const core::v1::PodCondition* condition = MatchConditions(rule, pod)) {
    return "Pod " + name + " has condition " + condition->type + tail;
  }
  return std::nullopt;
}

}  // namespace

FailureResult EvaluateFailure(const Job& job, const Pod& pod) {
  using Action = FailureResult::Action;
  if (!job.spec.podFailurePolicy) return {};
  const List<PodFailurePolicyRule>& rules = job.spec.podFailurePolicy->rules;
  for (size_t i = 0; i < rules.size(); ++i) {
    std::optional<std::string> message = MatchRule(rules[i], i, pod);
    if (!message.has_value()) continue;
    const std::string& action = rules[i].action;
    if (action == batch::v1::kPodFailurePolicyActionIgnore) return {Action::kIgnore, "", true};
    if (action == batch::v1::kPodFailurePolicyActionFailJob) {
      return {Action::kFailJob, *std::move(message), true};
    }
    if (action == batch::v1::kPodFailurePolicyActionFailIndex && HasBackoffLimitPerIndex(job)) {
      return {Action::kFailIndex, "", true};
    }
    return {Action::kCount, "", true};
  }
  return {};
}

std::optional<std::string> MatchSuccessPolicy(const Job& job, const IndexSet& succeeded) {
  if (!IsIndexed(job) || !job.spec.successPolicy) return std::nullopt;
  const auto& rules = job.spec.successPolicy->rules;
  for (size_t i = 0; i < rules.size(); ++i) {
    int32_t have = succeeded.count();
    int32_t want = rules[i].succeededCount.value_or(0);
    if (rules[i].succeededIndexes.has_value()) {
      const IndexSet counted = IndexSet::Parse(*rules[i].succeededIndexes, succeeded.size());
      have = succeeded.CountIn(counted);
      if (!rules[i].succeededCount.has_value()) want = counted.count();
    }
    if (have >= want) return "Matched rules at index " + std::to_string(i);
  }
  return std::nullopt;
}

}  // namespace cox::controllers

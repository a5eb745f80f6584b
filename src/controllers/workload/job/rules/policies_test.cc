// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/rules/policies.h"

#include <gtest/gtest.h>

#include "controllers/testing/test_job.h"

namespace cox::controllers {
namespace {

using Action = FailureResult::Action;
using batch::v1::Job;
using batch::v1::PodFailurePolicyRule;
using core::v1::Pod;

PodFailurePolicyRule OnCodes(std::string action, std::string op, List<int32_t> values,
                             std::optional<std::string> container = std::nullopt) {
  PodFailurePolicyRule rule;
  rule.action = std::move(action);
  rule.onExitCodes =
      batch::v1::PodFailurePolicyOnExitCodesRequirement{.containerName = std::move(container),
                                                        .operator_ = std::move(op),
                                                        .values = std::move(values)};
  return rule;
}

Job WithRules(List<PodFailurePolicyRule> rules) {
  Job job = TestJob();
  job.spec.podFailurePolicy.ensure().rules = std::move(rules);
  return job;
}

Pod ExitedWith(int32_t code) {
  Pod pod = TestPod("a", "Failed");
  pod.status.containerStatuses[0].state.terminated->exitCode = code;
  return pod;
}

TEST(FailurePolicy, FirstMatchingRuleDecides) {
  const Job job = WithRules({OnCodes("Ignore", "In", {42}), OnCodes("FailJob", "NotIn", {1, 2}),
                             OnCodes("Ignore", "In", {1})});
  EXPECT_EQ(EvaluateFailure(job, ExitedWith(42)).action, Action::kIgnore);
  EXPECT_EQ(EvaluateFailure(job, ExitedWith(1)).action, Action::kIgnore);
  EXPECT_EQ(EvaluateFailure(job, ExitedWith(2)).action, Action::kCount);
  EXPECT_EQ(EvaluateFailure(job, ExitedWith(0)).action, Action::kCount);
  const FailureResult verdict = EvaluateFailure(job, ExitedWith(3));
  EXPECT_EQ(verdict.action, Action::kFailJob);
  EXPECT_EQ(verdict.message,
            "Container main for pod ns/a failed with exit code 3 matching FailJob rule at index 1");
}

TEST(FailurePolicy, RuleCanBeLimitedToOneContainer) {
  EXPECT_EQ(
      EvaluateFailure(WithRules({OnCodes("Ignore", "In", {1}, "other")}), ExitedWith(1)).action,
      Action::kCount);
  EXPECT_EQ(
      EvaluateFailure(WithRules({OnCodes("Ignore", "In", {1}, "main")}), ExitedWith(1)).action,
      Action::kIgnore);
}

TEST(FailurePolicy, RuleMatchesPodConditions) {
  PodFailurePolicyRule rule;
  rule.action = "FailJob";
  rule.onPodConditions = {{.type = "DisruptionTarget", .status = "True"}};
  Pod pod = ExitedWith(137);
  EXPECT_EQ(EvaluateFailure(WithRules({rule}), pod).action, Action::kCount);
  pod.status.conditions = {{.type = "DisruptionTarget", .status = "True"}};
  EXPECT_EQ(EvaluateFailure(WithRules({rule}), pod).message,
            "Pod ns/a has condition DisruptionTarget matching FailJob rule at index 0");
}

TEST(FailurePolicy, FailIndexNeedsBackoffLimitPerIndex) {
  Job job = WithRules({OnCodes("FailIndex", "In", {1})});
  EXPECT_EQ(EvaluateFailure(job, ExitedWith(1)).action, Action::kCount);
  job.spec.completionMode = "Indexed";
  job.spec.backoffLimitPerIndex = 1;
  EXPECT_EQ(EvaluateFailure(job, ExitedWith(1)).action, Action::kFailIndex);
}

TEST(SuccessPolicy, FirstSatisfiedRuleMatches) {
  Job job = IndexedJob(10);
  job.spec.successPolicy.ensure().rules = {
      {.succeededIndexes = "0,9"},
      {.succeededIndexes = "1-5", .succeededCount = 2},
      {.succeededCount = 6},
  };
  const struct {
    const char* succeeded;
    std::optional<std::string> message;
  } kCases[] = {
      {"", std::nullopt},
      {"0", std::nullopt},
      {"0,9", "Matched rules at index 0"},
      {"0,1", std::nullopt},
      {"2,4", "Matched rules at index 1"},
      {"0,1,6-8", std::nullopt},
      {"0-8", "Matched rules at index 1"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(MatchSuccessPolicy(job, IndexSet::Parse(c.succeeded, 10)), c.message) << c.succeeded;
  }
}

}  // namespace
}  // namespace cox::controllers

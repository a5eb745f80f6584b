// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/registry/kinds/batch/job_validation.h"
#include "apiserver/registry/kinds/batch/strategies.h"
#include "apiserver/testing/strategy_testing.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kBase = R"({
  "metadata": {"name": "j", "namespace": "default"},
  "spec": {"template": {"spec": {"restartPolicy": "Never",
                                 "containers": [{"name": "c", "image": "app:1"}]}}}
})";

TEST(PodFailurePolicy, RejectsInvalidRules) {
  StrategyTester tester(NewJobStrategy(), kBase);
  const std::string kRule = "spec.podFailurePolicy.rules[0]";
  const std::string kNothing =
      kRule + ": Invalid value: specifying one of OnExitCodes and OnPodConditions is required";
  struct Case {
    std::string_view rule;
    std::vector<std::string> errors;
  } const kCases[] = {
      {R"({"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [0, 1]}})", {}},
      {R"({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]})", {}},
      {R"({"action": "X"})",
       {kRule + R"(.action: Unsupported value: "X": supported values: "Count", "FailIndex", )"
                R"("FailJob", "Ignore")",
        kNothing}},
      {R"({})",
       {kRule +
            R"(.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"])",
        kNothing}},
      {R"({"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [1]}})",
       {kRule + R"(.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be )"
                "set"}},
      {R"({"action": "FailJob", "onExitCodes": {"operator": "In", "values": []}})",
       {kRule + ".onExitCodes.values: Invalid value: []: at least one value is required"}},
      {R"({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [0, 0]}})",
       {kRule + ".onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator",
        kRule + ".onExitCodes.values[1]: Duplicate value: 0",
        kRule + ".onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator"}},
      {R"({"action": "FailJob", "onExitCodes": {"operator": "X", "values": [2, 1],
                                                "containerName": "nope"}})",
       {kRule + R"(.onExitCodes.operator: Unsupported value: "X": supported values: "In", "NotIn")",
        kRule + R"(.onExitCodes.containerName: Invalid value: "nope": must be one of the )"
                "container or initContainer names in the pod template",
        kRule + ".onExitCodes.values: Invalid value: [2,1]: must be ordered"}},
      {R"({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]},
           "onPodConditions": [{"type": "a", "status": "X"}]})",
       {kRule + R"(.onPodConditions[0].status: Unsupported value: "X": supported values: )"
                R"("False", "True", "Unknown")",
        kRule + ": Invalid value: specifying both OnExitCodes and OnPodConditions is not "
                "supported"}},
  };
  for (const Case& c : kCases) {
    std::string patch =
        R"({"spec": {"podFailurePolicy": {"rules": [)" + std::string(c.rule) + "]}}}";
    EXPECT_EQ(tester.CreateErrors(patch), c.errors) << c.rule;
  }
}

TEST(PodFailurePolicy, LimitsNumberOfRulesAndValues) {
  StrategyTester tester(NewJobStrategy(), kBase);
  std::string rules, values;
  for (int i = 0; i < 21; ++i) {
    rules += R"({"action":"Ignore","onPodConditions":[{"type":"a"}]},)";
  }
  for (int i = 1; i <= 256; ++i) values += std::to_string(i) + ",";
  rules.pop_back();
  values.pop_back();
  EXPECT_THAT(tester.CreateErrors(R"({"spec":{"podFailurePolicy":{"rules":[)" + rules + "]}}}"),
              testing::ElementsAre(
                  "spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items"));
  EXPECT_THAT(
      tester.CreateErrors(R"({"spec":{"podFailurePolicy":{"rules":[{"action":"FailJob",)"
                          R"("onExitCodes":{"operator":"In","values":[)" +
                          values + "]}}]}}}"),
      testing::ElementsAre("spec.podFailurePolicy.rules[0].onExitCodes.values: Too many: 256: "
                           "must have at most 255 items"));
}

TEST(SuccessPolicy, RejectsInvalidRules) {
  StrategyTester tester(NewJobStrategy(), kBase);
  const std::string kRule = "spec.successPolicy.rules[0]";
  const std::string kIndexes = kRule + ".succeededIndexes: Invalid value: ";
  struct Case {
    std::string_view rule;
    std::vector<std::string> errors;
  } const kCases[] = {
      {R"({"succeededIndexes": "0-2", "succeededCount": 2})", {}},
      {"{}",
       {kRule + ": Required value: at least one of succeededCount or succeededIndexes must be "
                "specified"}},
      {R"({"succeededIndexes": "x"})",
       {kIndexes + R"("x": error parsing succeededIndexes: cannot convert string to integer for )"
                   R"(index: "x")"}},
      {R"({"succeededIndexes": "0-5"})",
       {kIndexes + R"("0-5": error parsing succeededIndexes: too large index: "5")"}},
      {R"({"succeededCount": 5})",
       {kRule + ".succeededCount: Invalid value: 5: must be less than or equal to 3 (the number of "
                "specified completions)"}},
      {R"({"succeededIndexes": "0-1", "succeededCount": 3})",
       {kRule + ".succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of "
                "indexes in the specified succeededIndexes field)"}},
  };
  for (const Case& c : kCases) {
    std::string patch = R"({"spec": {"completionMode": "Indexed", "completions": 3,
                            "successPolicy": {"rules": [)" +
                        std::string(c.rule) + "]}}}";
    EXPECT_EQ(tester.CreateErrors(patch), c.errors) << c.rule;
  }
  EXPECT_THAT(tester.CreateErrors(R"({"spec": {"successPolicy": {"rules": []}}})"),
              testing::ElementsAre(R"(spec.successPolicy: Invalid value: {"Rules":[]}: )"
                                   "requires indexed completion mode"));
}

TEST(Indexes, CountsIndexes) {
  struct Case {
    std::string_view text;
    int64_t count;
  } const kCases[] = {{"", 0}, {"0", 1}, {"0,2-5,9", 6}, {"0-9", 10}};
  for (const Case& c : kCases) {
    Result<int64_t> count = CountIndexes(c.text, 10);
    ASSERT_TRUE(count.ok()) << c.text << count.status().message();
    EXPECT_EQ(*count, c.count) << c.text;
  }
}

TEST(Indexes, RejectsMalformedAndNonIncreasingLists) {
  struct Case {
    std::string_view text, error;
  } const kCases[] = {
      {"1,1", "non-increasing order, previous: 1, current: 1"},
      {"3-2", "non-increasing order, previous: 3, current: 2"},
      {"0-3,2", "non-increasing order, previous: 3, current: 2"},
      {"1-2-3",
       R"(the fragment "1-2-3" violates the requirement that an index interval can have at most )"
       "two parts separated by '-'"},
      {"1,", R"(cannot convert string to integer for index: "")"},
      {"10", R"(too large index: "10")"},
  };
  for (const Case& c : kCases) {
    Result<int64_t> count = CountIndexes(c.text, 10);
    ASSERT_FALSE(count.ok()) << c.text;
    EXPECT_EQ(count.status().message(), c.error) << c.text;
  }
}

}  // namespace
}  // namespace cox::apiserver

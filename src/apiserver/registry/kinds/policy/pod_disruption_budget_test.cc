// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/registry/kinds/policy/strategies.h"
#include "apiserver/testing/strategy_testing.h"

namespace cox::apiserver {
namespace {

StrategyTester Tester() {
  return {NewPodDisruptionBudgetStrategy(),
          R"({"metadata": {"name": "p"},
              "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}})"};
}

TEST(PodDisruptionBudget, RejectsInvalidSpecs) {
  StrategyTester tester = Tester();
  const std::string kPercent =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
      "'93%', regex used for validation is '[0-9]+%')";
  ExpectCreateErrors(
      tester, {{"{}", {}},
               {R"({"spec": null})", {}},
               {R"({"spec": {"minAvailable": "100%"}})", {}},
               {R"({"spec": {"minAvailable": -1}})",
                {"spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"}},
               {R"({"spec": {"minAvailable": "150%"}})",
                {R"(spec.minAvailable: Invalid value: "150%": must not be greater than 100%)"}},
               {R"({"spec": {"minAvailable": null, "maxUnavailable": "-1%"}})",
                {R"(spec.maxUnavailable: Invalid value: "-1%": )" + kPercent}},
               {R"({"spec": {"maxUnavailable": 1}})",
                {R"(spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"app":"a"}},)"
                 R"("MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: )"
                 "minAvailable and maxUnavailable cannot be both set"}},
               {R"({"spec": {"unhealthyPodEvictionPolicy": "X"}})",
                {R"(spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: )"
                 R"("AlwaysAllow", "IfHealthyBudget")"}}});
}

TEST(PodDisruptionBudget, RejectsInvalidStatuses) {
  StrategyTester tester = Tester();
  const std::string kCondition = "status.conditions[0].";
  ExpectUpdateErrors(
      tester, tester.Create(),
      {{R"({"status": {"currentHealthy": 3, "conditions": [{"type": "DisruptionAllowed",
            "status": "True", "reason": "SufficientPods", "message": "",
            "lastTransitionTime": "2024-01-01T00:00:00Z"}]}})",
        {}},
       {R"({"status": {"disruptionsAllowed": -1}})",
        {"status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0"}},
       {R"({"status": {"conditions": [{"type": "A", "status": "X"}]}})",
        {kCondition + R"(status: Unsupported value: "X": supported values: "False", "True", )"
                      R"("Unknown")",
         kCondition + "lastTransitionTime: Required value: must be set",
         kCondition + "reason: Required value: must be set"}}},
      "status");
  EXPECT_THAT(
      tester.UpdateErrors(tester.Create(), R"({"status": {"conditions": [
          {"type": "A", "status": "True", "reason": "a b",
           "lastTransitionTime": "2024-01-01T00:00:00Z"},
          {"type": "A", "status": "True", "reason": "a",
           "lastTransitionTime": "2024-01-01T00:00:00Z"}]}})",
                          "status"),
      testing::ElementsAre(
          testing::StartsWith(kCondition + R"(reason: Invalid value: "a b": a condition reason)"),
          R"(status.conditions[1].type: Duplicate value: "A")"));
}

TEST(PodDisruptionBudget, GenerationCountsSpecChangesAndUpdateRequiresResourceVersion) {
  StrategyTester tester = Tester();
  Object old = tester.Create();
  Object object = tester.Update(old, R"({"spec": {"selector": {"matchLabels": {"z": "z"}}}})");
  EXPECT_EQ(tester.At(object, {"metadata", "generation"}), "2");
  EXPECT_FALSE(tester.strategy().AllowUnconditionalUpdate());
}

TEST(PodDisruptionBudget, HasColumns) {
  StrategyTester tester = Tester();
  EXPECT_EQ(tester.Row(tester.Create()), R"(["p","1","N/A",0,"\u003cunknown\u003e"])");
  EXPECT_EQ(tester.Row(tester.Create(R"({"spec": {"minAvailable": null,
                                                  "maxUnavailable": "25%"}})")),
            R"(["p","N/A","25%",0,"\u003cunknown\u003e"])");
}

}  // namespace
}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/registry/kinds/apps/strategies.h"
#include "apiserver/testing/strategy_testing.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kBase = R"({
  "metadata": {"name": "web", "namespace": "default"},
  "spec": {
    "selector": {"matchLabels": {"app": "a"}},
    "template": {
      "metadata": {"labels": {"app": "a"}},
      "spec": {"containers": [{"name": "c", "image": "app:1"}]}
    }
  }
})";

StrategyTester Tester() { return {NewDeploymentStrategy(), kBase}; }

TEST(Deployment, SetsDefaults) {
  StrategyTester tester = Tester();
  struct Case {
    std::string_view patch, strategy;
  } const kCases[] = {
      {"{}", R"({"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},)"
             R"("type":"RollingUpdate"})"},
      {R"({"spec": {"strategy": {"type": "Recreate"}}})", R"({"type":"Recreate"})"},
      {R"({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 1}}}})",
       R"({"rollingUpdate":{"maxSurge":1,"maxUnavailable":"25%"},"type":"RollingUpdate"})"},
  };
  for (const Case& c : kCases) {
    Object object = tester.Create(c.patch);
    EXPECT_EQ(tester.At(object, {"spec", "strategy"}), c.strategy) << c.patch;
    EXPECT_EQ(tester.At(object, {"spec", "replicas"}), "1");
    EXPECT_EQ(tester.At(object, {"spec", "revisionHistoryLimit"}), "10");
    EXPECT_EQ(tester.At(object, {"spec", "progressDeadlineSeconds"}), "600");
    EXPECT_EQ(tester.At(object, {"spec", "template", "spec", "restartPolicy"}), R"("Always")");
  }
  EXPECT_EQ(tester.At(tester.Create(R"({"spec": {"replicas": 0}})"), {"spec", "replicas"}), "0");
}

TEST(Deployment, RejectsInvalidSpecs) {
  StrategyTester tester = Tester();
  const std::string kMismatch = R"(spec.template.metadata.labels: Invalid value: {"app":"a"}: )"
                                "`selector` does not match template `labels`";
  const std::string kPercent =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
      "'93%', regex used for validation is '[0-9]+%')";
  ExpectCreateErrors(
      tester,
      {{"{}", {}},
       {R"({"spec": {"replicas": -1}})",
        {"spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
       {R"({"spec": {"selector": null}})", {"spec.selector: Required value", kMismatch}},
       {R"({"spec": {"selector": {"matchLabels": null}}})",
        {"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}},
       {R"({"spec": {"selector": {"matchLabels": {"app": "b"}}}})", {kMismatch}},
       {R"({"spec": {"selector": {"matchLabels": null,
                                  "matchExpressions": [{"key": "a", "operator": "X"}]}}})",
        {R"(spec.selector.matchExpressions[0].operator: Invalid value: "X": )"
         "not a valid selector operator",
         R"(spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"X"}]}: )"
         "invalid label selector"}},
       {R"({"spec": {"template": {"metadata": null}}})",
        {"spec.template.metadata.labels: Invalid value: null: `selector` does not match template "
         "`labels`"}},
       {R"({"spec": {"template": {"spec": {"restartPolicy": "Never", "activeDeadlineSeconds": 5}}}})",
        {R"(spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always")",
         "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet "
         "is not Supported"}},
       {R"({"spec": {"minReadySeconds": -1, "revisionHistoryLimit": -1}})",
        {"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
         "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
       {R"({"spec": {"progressDeadlineSeconds": 5, "minReadySeconds": 5}})",
        {"spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"}},
       {R"({"spec": {"strategy": {"type": "X"}}})",
        {R"(spec.strategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: )"
         R"("Recreate", "RollingUpdate")"}},
       {R"({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": {}}}})",
        {"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is "
         "'Recreate'"}},
       {R"({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}}})",
        {R"(spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": )"
         "may not be 0 when `maxSurge` is 0"}},
       {R"({"spec": {"strategy": {"rollingUpdate": {"maxSurge": -1, "maxUnavailable": "101%"}}}})",
        {"spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal "
         "to 0",
         R"(spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": )"
         "must not be greater than 100%"}},
       {R"({"spec": {"strategy": {"rollingUpdate": {"maxSurge": "10"}}}})",
        {R"(spec.strategy.rollingUpdate.maxSurge: Invalid value: "10": )" + kPercent}}});
}

TEST(Deployment, SelectorIsImmutable) {
  StrategyTester tester = Tester();
  Object old =
      tester.Create(R"({"spec": {"template": {"metadata": {"labels": {"app": "a", "x": "y"}}}}})");
  ExpectUpdateErrors(tester, old,
                     {{R"({"spec": {"replicas": 3}})", {}},
                      {R"({"spec": {"selector": {"matchLabels": {"app": null, "x": "y"}}}})",
                       {R"(spec.selector: Invalid value: {"matchLabels":{"x":"y"}}: )"
                        "field is immutable"}}});
}

TEST(Deployment, GenerationCountsChangesOfSpecAndAnnotations) {
  StrategyTester tester = Tester();
  Object old = tester.Create();
  struct Case {
    std::string_view patch, subresource, generation;
  } const kCases[] = {
      {R"({"metadata": {"labels": {"a": "b"}}})", "", "1"},
      {R"({"metadata": {"annotations": {"a": "b"}}})", "", "2"},
      {R"({"spec": {"replicas": 3}})", "", "2"},
      {R"({"spec": {"replicas": 3}, "metadata": {"annotations": {"a": "b"}}})", "", "2"},
      {R"({"spec": {"replicas": 3}, "metadata": {"generation": 9}})", "status", "1"},
  };
  for (const Case& c : kCases) {
    Object object = tester.Update(old, c.patch, c.subresource);
    EXPECT_EQ(tester.At(object, {"metadata", "generation"}), c.generation) << c.patch;
  }
}

TEST(Deployment, SpecAndStatusUpdatesAreSeparate) {
  StrategyTester tester = Tester();
  Object old = tester.Create(R"({"status": {"replicas": 3}})");
  EXPECT_EQ(tester.At(old, {"status"}), "{}");
  Object status = tester.Update(
      old,
      R"({"spec": {"replicas": 9}, "status": {"replicas": 3}, "metadata": {"labels": {"a": "b"},
          "annotations": {"a": "b"}}})",
      "status");
  EXPECT_EQ(tester.At(status, {"spec", "replicas"}), "1");
  EXPECT_EQ(tester.At(status, {"status", "replicas"}), "3");
  EXPECT_EQ(tester.At(status, {"metadata", "labels"}), "absent");
  EXPECT_EQ(tester.At(status, {"metadata", "annotations"}), R"({"a":"b"})");
  Object spec = tester.Update(status, R"({"spec": {"replicas": 9}, "status": null})");
  EXPECT_EQ(tester.At(spec, {"spec", "replicas"}), "9");
  EXPECT_EQ(tester.At(spec, {"status", "replicas"}), "3");
}

TEST(Deployment, RejectsInvalidStatuses) {
  StrategyTester tester = Tester();
  Object old = tester.Update(tester.Create(), R"({"status": {"collisionCount": 2}})", "status");
  ExpectUpdateErrors(
      tester, old,
      {{R"({"status": {"replicas": 3, "updatedReplicas": 2, "readyReplicas": 1,
                       "availableReplicas": 1, "unavailableReplicas": 2}})",
        {}},
       {R"({"status": {"replicas": -1, "readyReplicas": 1}})",
        {"status.replicas: Invalid value: -1: must be greater than or equal to 0",
         "status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas",
         "status.readyReplicas: Invalid value: 1: cannot be greater than status.replicas",
         "status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas"}},
       {R"({"status": {"replicas": 3, "readyReplicas": 1, "availableReplicas": 2}})",
        {"status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas"}},
       {R"({"status": {"collisionCount": 1}})",
        {"status.collisionCount: Invalid value: 1: cannot be decremented"}}},
      "status");
}

TEST(Deployment, WarnsAboutNamesThatMakeInvalidHostNames) {
  StrategyTester tester = Tester();
  EXPECT_THAT(tester.CreateWarnings("{}"), testing::IsEmpty());
  EXPECT_THAT(tester.CreateWarnings(R"({"metadata": {"name": "a.b"}})"),
              testing::ElementsAre(testing::HasSubstr("a DNS label is recommended: [must not")));
}

TEST(Deployment, HasColumns) {
  StrategyTester tester = Tester();
  Object object =
      tester.Update(tester.Create(),
                    R"({"status": {"replicas": 3, "readyReplicas": 1, "updatedReplicas": 2,
                     "availableReplicas": 1}})",
                    "status");
  EXPECT_EQ(tester.Row(object), R"(["web","1/1",2,1,"\u003cunknown\u003e","c","app:1","app=a"])");
  EXPECT_EQ(tester.strategy().Columns().size(), 8u);
}

}  // namespace
}  // namespace cox::apiserver

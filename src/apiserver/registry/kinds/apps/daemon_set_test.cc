// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/registry/kinds/apps/strategies.h"
#include "apiserver/testing/strategy_testing.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kBase = R"({
  "metadata": {"name": "agent", "namespace": "default"},
  "spec": {
    "selector": {"matchLabels": {"app": "a"}},
    "template": {
      "metadata": {"labels": {"app": "a"}},
      "spec": {"containers": [{"name": "c", "image": "app:1"}], "nodeSelector": {"disk": "ssd"}}
    }
  }
})";

StrategyTester Tester() { return {NewDaemonSetStrategy(), kBase}; }

std::string TemplateGeneration(const Object& object) {
  return StrategyTester::At(object, {"metadata", "annotations", kDaemonSetTemplateGeneration});
}

TEST(DaemonSet, SetsDefaults) {
  StrategyTester tester = Tester();
  struct Case {
    std::string_view patch, strategy;
  } const kCases[] = {
      {"{}", R"({"rollingUpdate":{"maxSurge":0,"maxUnavailable":1},"type":"RollingUpdate"})"},
      {R"({"spec": {"updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}})",
       R"({"rollingUpdate":{"maxSurge":1,"maxUnavailable":0},"type":"RollingUpdate"})"},
      {R"({"spec": {"updateStrategy": {"type": "OnDelete"}}})", R"({"type":"OnDelete"})"},
  };
  for (const Case& c : kCases) {
    Object object = tester.Create(c.patch);
    EXPECT_EQ(tester.At(object, {"spec", "updateStrategy"}), c.strategy) << c.patch;
    EXPECT_EQ(tester.At(object, {"spec", "revisionHistoryLimit"}), "10");
  }
}

TEST(DaemonSet, RejectsInvalidSpecs) {
  StrategyTester tester = Tester();
  const std::string kMismatch = R"(spec.template.metadata.labels: Invalid value: {"app":"a"}: )"
                                "`selector` does not match template `labels`";
  const std::string kUnavailable = "spec.updateStrategy.rollingUpdate.maxUnavailable: ";
  ExpectCreateErrors(
      tester,
      {{"{}", {}},
       // Unlike for other kinds, a missing selector is not reported as such.
       {R"({"spec": {"selector": null}})", {kMismatch}},
       {R"({"spec": {"selector": {"matchLabels": null}}})",
        {"spec.selector: Invalid value: {}: empty selector is invalid for daemonset"}},
       {R"({"spec": {"updateStrategy": {"type": "X"}}})",
        {R"(spec.updateStrategy: Unsupported value: {"Type":"X","RollingUpdate":null}: )"
         R"(supported values: "RollingUpdate", "OnDelete")"}},
       {R"({"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 0}}}})",
        {kUnavailable + "Required value: cannot be 0 when maxSurge is 0"}},
       {R"({"spec": {"updateStrategy": {"rollingUpdate": {"maxSurge": "10%"}}}})",
        {R"(spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "10%": )"
         "may not be set when maxUnavailable is non-zero"}},
       {R"({"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": "101%"}}}})",
        {kUnavailable + R"(Invalid value: "101%": must not be greater than 100%)"}},
       {R"({"spec": {"minReadySeconds": -1, "revisionHistoryLimit": -1,
                     "template": {"spec": {"activeDeadlineSeconds": 5}}}})",
        {"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet "
         "is not Supported",
         "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
         "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}}});
}

TEST(DaemonSet, TemplateGenerationCountsTemplateChanges) {
  StrategyTester tester = Tester();
  EXPECT_EQ(TemplateGeneration(tester.Decode()), R"("0")") << "before it is created";
  Object old = tester.Create();
  EXPECT_EQ(TemplateGeneration(old), R"("1")");
  struct Case {
    std::string_view patch, subresource, template_generation, generation;
  } const kCases[] = {
      {R"({"metadata": {"labels": {"a": "b"}}})", "", R"("1")", "1"},
      {R"({"spec": {"minReadySeconds": 3}})", "", R"("1")", "2"},
      {R"({"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}})", "", R"("2")", "2"},
      {R"({"metadata": {"annotations": {"deprecated.daemonset.template.generation": "9"}}})", "",
       R"("1")", "1"},
      {R"({"metadata": {"annotations": null}})", "", R"("1")", "1"},
      {R"({"metadata": {"annotations": null}, "spec": {"minReadySeconds": 3}})", "status", R"("1")",
       "1"},
  };
  for (const Case& c : kCases) {
    Object object = tester.Update(old, c.patch, c.subresource);
    EXPECT_EQ(TemplateGeneration(object), c.template_generation) << c.patch;
    EXPECT_EQ(tester.At(object, {"metadata", "generation"}), c.generation) << c.patch;
  }
}

TEST(DaemonSet, PartialMetadataHasNoTemplateGeneration) {
  StrategyTester tester = Tester();
  Object object = tester.Create(R"({"metadata": {"annotations": {"a": "b"}}})");
  tester.strategy().TrimPartialMetadata(*object.object_meta());
  EXPECT_EQ(tester.At(object, {"metadata", "annotations"}), R"({"a":"b"})");
}

TEST(DaemonSet, RejectsChangedSelectorAndNegativeCounters) {
  StrategyTester tester = Tester();
  Object old = tester.Create(R"({"spec": {"template": {"metadata": {"labels": {"x": "y"}}}}})");
  ExpectUpdateErrors(
      tester, old,
      {{R"({"spec": {"selector": {"matchLabels": {"app": null, "x": "y"}}}})",
        {R"(spec.selector: Invalid value: {"matchLabels":{"x":"y"}}: field is immutable)"}}});
  ExpectUpdateErrors(
      tester, old,
      {{R"({"status": {"numberReady": -1, "collisionCount": -1}})",
        {"status.numberReady: Invalid value: -1: must be greater than or equal to 0",
         "status.collisionCount: Invalid value: -1: must be greater than or equal to 0"}}},
      "status");
}

TEST(DaemonSet, HasColumns) {
  StrategyTester tester = Tester();
  Object object = tester.Update(
      tester.Create(),
      R"({"status": {"currentNumberScheduled": 1, "desiredNumberScheduled": 2, "numberReady": 1,
                     "updatedNumberScheduled": 4, "numberAvailable": 5}})",
      "status");
  EXPECT_EQ(tester.Row(object),
            R"(["agent",2,1,1,4,5,"disk=ssd","\u003cunknown\u003e","c","app:1","app=a"])");
}

}  // namespace
}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/registry/kinds/autoscaling/conversion.h"
#include "apiserver/registry/kinds/autoscaling/strategies.h"
#include "apiserver/testing/strategy_testing.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kBase = R"({
  "metadata": {"name": "h", "namespace": "default"},
  "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
           "maxReplicas": 3}
})";

StrategyTester Tester() { return {NewHorizontalPodAutoscalerStrategy(), kBase}; }

TEST(HorizontalPodAutoscaler, SetsDefaults) {
  StrategyTester tester = Tester();
  Object object = tester.Create();
  EXPECT_EQ(tester.At(object, {"spec", "minReplicas"}), "1");
  EXPECT_EQ(tester.At(object, {"spec", "metrics"}),
            R"([{"resource":{"name":"cpu","target":{"averageUtilization":80,)"
            R"("type":"Utilization"}},"type":"Resource"}])");
  EXPECT_EQ(tester.At(object, {"spec", "behavior"}), "absent");
  EXPECT_EQ(tester.At(object, {"metadata", "generation"}), "absent");
}

TEST(HorizontalPodAutoscaler, SetsBehaviorDefaults) {
  StrategyTester tester = Tester();
  struct Case {
    std::string_view patch, up, down;
  } const kCases[] = {
      {R"({"spec": {"behavior": {}}})",
       R"({"policies":[{"periodSeconds":15,"type":"Pods","value":4},)"
       R"({"periodSeconds":15,"type":"Percent","value":100}],"selectPolicy":"Max",)"
       R"("stabilizationWindowSeconds":0})",
       R"({"policies":[{"periodSeconds":15,"type":"Percent","value":100}],"selectPolicy":"Max"})"},
      {R"({"spec": {"behavior": {"scaleUp": {"selectPolicy": "Disabled",
           "policies": [{"type": "Pods", "value": 1, "periodSeconds": 5}]},
           "scaleDown": {"stabilizationWindowSeconds": 7}}}})",
       R"({"policies":[{"periodSeconds":5,"type":"Pods","value":1}],"selectPolicy":"Disabled",)"
       R"("stabilizationWindowSeconds":0})",
       R"({"policies":[{"periodSeconds":15,"type":"Percent","value":100}],"selectPolicy":"Max",)"
       R"("stabilizationWindowSeconds":7})"},
  };
  for (const Case& c : kCases) {
    Object object = tester.Create(c.patch);
    EXPECT_EQ(tester.At(object, {"spec", "behavior", "scaleUp"}), c.up) << c.patch;
    EXPECT_EQ(tester.At(object, {"spec", "behavior", "scaleDown"}), c.down) << c.patch;
  }
}

TEST(HorizontalPodAutoscaler, DropsV1ConversionAnnotations) {
  StrategyTester tester = Tester();
  Object object = tester.Create(R"({"metadata": {"annotations": {"a": "b",
      "autoscaling.alpha.kubernetes.io/metrics": "[]"}}})");
  EXPECT_EQ(tester.At(object, {"metadata", "annotations"}), R"({"a":"b"})");
}

TEST(HorizontalPodAutoscaler, StatusUpdateChangesOnlyStatus) {
  StrategyTester tester = Tester();
  Object old = tester.Create(R"({"status": {"currentReplicas": 1}})");
  EXPECT_EQ(tester.At(old, {"status", "currentReplicas"}), "absent");
  Object object = tester.Update(
      old, R"({"spec": {"maxReplicas": 9}, "status": {"desiredReplicas": 2}})", "status");
  EXPECT_EQ(tester.At(object, {"spec", "maxReplicas"}), "3");
  EXPECT_EQ(tester.At(object, {"status", "desiredReplicas"}), "2");
  ExpectUpdateErrors(
      tester, old,
      {{R"({"status": {"currentReplicas": -1, "desiredReplicas": -1}})",
        {"status.currentReplicas: Invalid value: -1: must be greater than or equal to 0",
         "status.desiredReplicas: Invalid value: -1: must be greater than or equal to 0"}}},
      "status");
}

TEST(HorizontalPodAutoscaler, HasColumns) {
  StrategyTester tester = Tester();
  struct Case {
    std::string_view metrics, status, targets;
  } const kCases[] = {
      {R"([{"type": "Resource", "resource": {"name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": 50}}}])",
       R"([{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 40,
            "averageValue": "100m"}}}])",
       "cpu: 40%/50%"},
      {R"([{"type": "Resource", "resource": {"name": "memory",
            "target": {"type": "AverageValue", "averageValue": "100Mi"}}},
           {"type": "Pods", "pods": {"metric": {"name": "qps"},
            "target": {"type": "AverageValue", "averageValue": "1k"}}},
           {"type": "Pods", "pods": {"metric": {"name": "x"}, "target": {"type": "Value"}}}])",
       "[]", "memory: <unknown>/100Mi, <unknown>/1k + 1 more..."},
      {R"([{"type": "Object", "object": {"metric": {"name": "m"},
            "describedObject": {"kind": "Service", "name": "s"},
            "target": {"type": "Value", "value": "5"}}},
           {"type": "External", "external": {"metric": {"name": "x"},
            "target": {"type": "AverageValue", "averageValue": "2"}}}])",
       R"([{"type": "Object", "object": {"metric": {"name": "m"}, "describedObject": {},
            "current": {"value": "3"}}},
           {"type": "External", "external": {"metric": {"name": "x"},
            "current": {"averageValue": "1"}}}])",
       "3/5, 1/2 (avg)"},
      {R"([{"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c",
            "target": {"type": "Utilization", "averageUtilization": 60}}}])",
       "[]", "cpu: <unknown>/60%"},
  };
  for (const Case& c : kCases) {
    Object object = tester.Update(
        tester.Create(R"({"spec": {"metrics": )" + std::string(c.metrics) + "}}"),
        R"({"status": {"currentReplicas": 1, "currentMetrics": )" + std::string(c.status) + "}}",
        "status");
    Cells cells = tester.strategy().Row(object, tester.context().now);
    ASSERT_EQ(cells.size(), 7u);
    EXPECT_EQ(cells[1], Value("Deployment/d"));
    EXPECT_EQ(cells[2], Value(c.targets));
    EXPECT_EQ(cells[3], Value("1"));
    EXPECT_EQ(cells[4], Value(3));
    EXPECT_EQ(cells[5], Value(1));
  }
}

TEST(HorizontalPodAutoscaler, IsServedAsV1) {
  StrategyTester tester = Tester();
  ASSERT_EQ(tester.strategy().Versions().size(), 1u);
  const ServedVersion& v1 = *tester.strategy().Versions()[0];
  EXPECT_EQ(v1.kind().version, "v1");
  Object object(v1.kind());
  v1.SetDefaults(object);
  EXPECT_EQ(object.As<autoscaling::v1::HorizontalPodAutoscaler>()->spec.minReplicas, 1);
  Object hub = v1.ToHub(object);
  tester.strategy().SetDefaults(hub);
  Object back = v1.FromHub(hub);
  EXPECT_EQ(
      back.As<autoscaling::v1::HorizontalPodAutoscaler>()->spec.targetCPUUtilizationPercentage, 80);
}

}  // namespace
}  // namespace cox::apiserver

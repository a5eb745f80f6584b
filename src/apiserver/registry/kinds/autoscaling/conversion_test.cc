// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/autoscaling/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "object/codec/json/json.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

namespace v1 = autoscaling::v1;
namespace v2 = autoscaling::v2;

constexpr std::string_view kEverything = R"({
  "metadata": {"name": "h", "annotations": {"a": "b"}},
  "spec": {
    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
    "minReplicas": 2, "maxReplicas": 5,
    "metrics": [
      {"type": "Resource", "resource": {"name": "memory",
        "target": {"type": "AverageValue", "averageValue": "100Mi"}}},
      {"type": "Pods", "pods": {"metric": {"name": "qps"},
        "target": {"type": "AverageValue", "averageValue": "1k"}}},
      {"type": "Object", "object": {"metric": {"name": "m", "selector": {"matchLabels": {"a": "b"}}},
        "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "s"},
        "target": {"type": "Value", "value": "5"}}},
      {"type": "Object", "object": {"metric": {"name": "m"},
        "describedObject": {"kind": "Service", "name": "s"},
        "target": {"type": "AverageValue", "averageValue": "7"}}},
      {"type": "External", "external": {"metric": {"name": "x"},
        "target": {"type": "AverageValue", "averageValue": "2"}}},
      {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c",
        "target": {"type": "Utilization", "averageUtilization": 60}}},
      {"type": "Resource", "resource": {"name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": 50}}}],
    "behavior": {
      "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max",
                  "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}],
                  "tolerance": "500m"},
      "scaleDown": {"policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}}
  },
  "status": {
    "observedGeneration": 3, "lastScaleTime": "2024-01-01T00:00:00Z",
    "currentReplicas": 2, "desiredReplicas": 3,
    "currentMetrics": [
      {"type": "Resource", "resource": {"name": "cpu",
        "current": {"averageUtilization": 40, "averageValue": "100m"}}},
      {"type": "Object", "object": {"metric": {"name": "m"}, "current": {"value": "4"},
        "describedObject": {"kind": "Service", "name": "s"}}}],
    "conditions": [{"type": "ScalingActive", "status": "True", "reason": "r", "message": "m",
                    "lastTransitionTime": "2024-01-01T00:00:00Z"}]
  }
})";

TEST(HorizontalPodAutoscalerConversion, ConversionToV1AndBackIsLossless) {
  auto hub = json::Decode<v2::HorizontalPodAutoscaler>(kEverything);
  ASSERT_TRUE(hub.ok()) << hub.status().message();
  v1::HorizontalPodAutoscaler down = ToV1(*hub);
  EXPECT_EQ(down.spec.targetCPUUtilizationPercentage, 50);
  EXPECT_EQ(down.status.currentCPUUtilizationPercentage, 40);
  v2::HorizontalPodAutoscaler back = FromV1(down);
  EXPECT_EQ(json::Encode(back), json::Encode(*hub));
}

TEST(HorizontalPodAutoscalerConversion, AnnotationsContainWhatV1HasNoFieldFor) {
  auto hub = json::Decode<v2::HorizontalPodAutoscaler>(R"({
    "spec": {"metrics": [
      {"type": "Resource", "resource": {"name": "memory",
        "target": {"type": "AverageValue", "averageValue": "100Mi"}}},
      {"type": "External", "external": {"metric": {"name": "x"},
        "target": {"type": "AverageValue", "averageValue": "2"}}}],
     "behavior": {"scaleDown": {"selectPolicy": "Max",
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 5}]}}}})");
  ASSERT_TRUE(hub.ok());
  const Map<std::string> annotations = ToV1(*hub).metadata.annotations;
  EXPECT_EQ(annotations.size(), 2u);
  EXPECT_EQ(*annotations.Get(kMetricSpecsAnnotation),
            R"([{"type":"Resource","resource":{"name":"memory","targetAverageValue":"100Mi"}},)"
            R"({"type":"External","external":{"metricName":"x","targetAverageValue":"2"}}])");
  EXPECT_EQ(*annotations.Get(kBehaviorAnnotation),
            R"({"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,)"
            R"("SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":5}],)"
            R"("Tolerance":null}})");
}

TEST(HorizontalPodAutoscalerConversion, V1FieldsConvertToCpuMetric) {
  v1::HorizontalPodAutoscaler in;
  in.spec.targetCPUUtilizationPercentage = 70;
  in.status.currentCPUUtilizationPercentage = 30;
  v2::HorizontalPodAutoscaler hub = FromV1(in);
  ASSERT_EQ(hub.spec.metrics.size(), 1u);
  EXPECT_TRUE(IsCpuUtilization(hub.spec.metrics[0]));
  EXPECT_TRUE(DeepEqual(hub.spec.metrics[0], CpuUtilization(70)));
  ASSERT_EQ(hub.status.currentMetrics.size(), 1u);
  EXPECT_EQ(hub.status.currentMetrics[0].resource->current.averageUtilization, 30);
  EXPECT_EQ(ToV1(hub).spec.targetCPUUtilizationPercentage, 70);
  EXPECT_EQ(ToV1(v2::HorizontalPodAutoscaler()).spec.targetCPUUtilizationPercentage, std::nullopt);
}

TEST(HorizontalPodAutoscalerConversion, InvalidAnnotationsAreDropped) {
  for (const char* text : {"", "x", "{}", "[1]", R"([{"type":1}])", "null"}) {
    v1::HorizontalPodAutoscaler in;
    for (const char* key : {kMetricSpecsAnnotation, kMetricStatusesAnnotation, kBehaviorAnnotation,
                            kConditionsAnnotation}) {
      in.metadata.annotations[key] = text;
    }
    v2::HorizontalPodAutoscaler hub = FromV1(in);
    EXPECT_TRUE(hub.metadata.annotations.empty()) << text;
    EXPECT_TRUE(hub.spec.metrics.empty()) << text;
    EXPECT_TRUE(hub.status.currentMetrics.empty()) << text;
    EXPECT_TRUE(hub.status.conditions.empty()) << text;
  }
}

}  // namespace
}  // namespace cox::apiserver

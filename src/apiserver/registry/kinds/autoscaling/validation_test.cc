// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/autoscaling/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(HorizontalPodAutoscalerValidation, RejectsInvalidNumbersAndTargets) {
  StrategyTester tester = Tester();
  const std::string kTooFew =
      "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`";
  ExpectCreateErrors(
      tester,
      {{"{}", {}},
       {R"({"spec": {"maxReplicas": null}})",
        {"spec.maxReplicas: Required value: must be set and greater than 0", kTooFew}},
       {R"({"spec": {"minReplicas": 0}})",
        {"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
         "spec.metrics: Forbidden: must specify at least one Object or External metric to support "
         "scaling to zero replicas"}},
       {R"({"spec": {"scaleTargetRef": null}})",
        {"spec.scaleTargetRef.kind: Required value", "spec.scaleTargetRef.name: Required value",
         R"(spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group)"}},
       {R"({"spec": {"scaleTargetRef": {"name": "a/b", "apiVersion": "a/b/c"}}})",
        {R"(spec.scaleTargetRef.name: Invalid value: "a/b": may not contain '/')",
         R"(spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": )"
         "unexpected GroupVersion string: a/b/c"}},
       {R"({"spec": {"scaleTargetRef": {"kind": "ReplicationController", "apiVersion": "v1"}}})",
        {}}});
}

TEST(HorizontalPodAutoscalerValidation, RejectsInvalidMetrics) {
  StrategyTester tester = Tester();
  const std::string kMetric = "spec.metrics[0]";
  const std::string kUnknown = R"(: supported values: "ContainerResource", "External", "Object", )"
                               R"("Pods", "Resource")";
  struct Case {
    std::string_view metric;
    std::vector<std::string> errors;
  } const kCases[] = {
      {"{}",
       {kMetric + ".type: Required value: must specify a metric source type",
        kMetric + R"(.type: Unsupported value: "")" + kUnknown,
        kMetric + R"(.type: Unsupported value: "")" + kUnknown}},
      {R"({"type": "Resource"})",
       {kMetric + ".resource: Required value: must populate information for the given metric "
                  "source"}},
      {R"({"type": "Resource", "resource": {"name": "", "target": {}}})",
       {kMetric + ".resource.name: Required value: must specify a resource name",
        kMetric + ".resource.target.type: Required value: must specify a metric target type",
        kMetric + R"(.resource.target.type: Invalid value: "": must be either Utilization, Value, )"
                  "or AverageValue",
        kMetric + ".resource.target.averageUtilization: Required value: must set either a target "
                  "raw value or a target utilization"}},
      {R"({"type": "Resource", "resource": {"name": "cpu",
           "target": {"type": "Utilization", "averageUtilization": 0, "averageValue": "-1"}}})",
       {kMetric + R"(.resource.target.averageValue: Invalid value: "-1": must be positive)",
        kMetric + ".resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
        kMetric + ".resource.target.averageValue: Forbidden: may not set both a target raw value "
                  "and a target utilization"}},
      {R"({"type": "Pods", "pods": {"metric": {"name": ""}, "target": {"type": "AverageValue"}}})",
       {kMetric + ".pods.metric.name: Required value: must specify a metric name",
        kMetric + ".pods.target.averageValue: Required value: must specify a positive target "
                  "averageValue"}},
      {R"({"type": "Object", "object": {"metric": {"name": "m"}, "describedObject": {},
           "target": {"type": "Value", "value": "-1"}}})",
       {kMetric + ".object.describedObject.kind: Required value",
        kMetric + ".object.describedObject.name: Required value",
        kMetric + R"(.object.target.value: Invalid value: "-1": must be positive)"}},
      {R"({"type": "External", "external": {"metric": {"name": "m"},
           "target": {"type": "Value", "value": "1", "averageValue": "2"}}})",
       {kMetric + ".external.target.value: Forbidden: may not set both a target value for metric "
                  "and a per-pod target"}},
      {R"({"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "",
           "target": {"type": "Utilization", "averageUtilization": 5}}})",
       {kMetric + ".containerResource.container: Required value: must specify a container"}},
      // Only the first source is validated.
      {R"({"type": "Resource", "resource": {"target": {}}, "external": {"metric": {"name": "m"},
           "target": {"type": "Value", "value": "1"}}})",
       {kMetric + ".external: Forbidden: must populate the given metric source only"}},
  };
  for (const Case& c : kCases) {
    std::string patch = R"({"spec": {"metrics": [)" + std::string(c.metric) + "]}}";
    EXPECT_EQ(tester.CreateErrors(patch), c.errors) << c.metric;
  }
}

TEST(HorizontalPodAutoscalerValidation, RejectsInvalidBehaviors) {
  StrategyTester tester = Tester();
  const std::string kRules = "spec.behavior.scaleUp.";
  struct Case {
    std::string_view rules;
    std::vector<std::string> errors;
  } const kCases[] = {
      {R"({"policies": [{"type": "X", "value": 0, "periodSeconds": 0}]})",
       {kRules + R"(policies[0].type: Unsupported value: "X": supported values: "Percent", "Pods")",
        kRules + "policies[0].value: Invalid value: 0: must be greater than zero",
        kRules + "policies[0].periodSeconds: Invalid value: 0: must be greater than zero"}},
      {R"({"policies": [{"type": "Pods", "value": 1, "periodSeconds": 1801}]})",
       {kRules + "policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to "
                 "1800"}},
      {R"({"stabilizationWindowSeconds": -1})",
       {kRules + "stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to "
                 "zero"}},
      {R"({"stabilizationWindowSeconds": 4000, "selectPolicy": "X", "tolerance": "-1"})",
       {kRules + "stabilizationWindowSeconds: Invalid value: 4000: must be less than or equal to "
                 "3600",
        kRules + R"(selectPolicy: Unsupported value: "X": supported values: "Disabled", "Max", )"
                 R"("Min")",
        kRules + R"(tolerance: Invalid value: "-1": must be greater than or equal to 0)"}},
  };
  for (const Case& c : kCases) {
    std::string patch = R"({"spec": {"behavior": {"scaleUp": )" + std::string(c.rules) + "}}}";
    EXPECT_EQ(tester.CreateErrors(patch), c.errors) << c.rules;
  }
}

TEST(HorizontalPodAutoscalerValidation, UnchangedStoredValuesAreNotValidatedAgain) {
  StrategyTester tester = Tester();
  Object old = tester.Create(R"({"spec": {"scaleTargetRef": {"apiVersion": "v1"}, "minReplicas": 0,
          "metrics": [{"type": "External", "external": {"metric": {"name": "m"},
                       "target": {"type": "Value", "value": "1"}}}]}})");
  ExpectUpdateErrors(tester, old,
                     {{R"({"spec": {"maxReplicas": 5}})", {}},
                      {R"({"spec": {"minReplicas": -1}})",
                       {"spec.minReplicas: Invalid value: -1: must be greater than or equal to 0"}},
                      {R"({"spec": {"scaleTargetRef": {"name": "other"}}})",
                       {R"(spec.scaleTargetRef.apiVersion: Invalid value: "v1": )"
                        "apiVersion must specify API group"}}});
}

}  // namespace
}  // namespace cox::apiserver

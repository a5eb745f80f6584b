// SPDX-License-Identifier: Apache-2.0
// LimitRange and ResourceQuota.
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

TEST(LimitRangeTest, DerivesDefaultsFromBounds) {
  StrategyHarness ranges(NewLimitRangeStrategy());
  const CreateCase cases[] = {
      {R"({"type":"Container","max":{"cpu":"1"}})",
       R"({"default":{"cpu":"1"},"defaultRequest":{"cpu":"1"},"max":{"cpu":"1"},"type":"Container"})"},
      {R"({"type":"Container","min":{"memory":"1Mi"}})",
       R"({"defaultRequest":{"memory":"1Mi"},"min":{"memory":"1Mi"},"type":"Container"})"},
      {R"({"type":"Pod","max":{"cpu":"4"}})", R"({"max":{"cpu":"4"},"type":"Pod"})"},
  };
  for (const CreateCase& c : cases) {
    auto made = ranges.Create(R"({"metadata":{"name":"a"},"spec":{"limits":[)" +
                              std::string(c.spec) + "]}}");
    EXPECT_EQ(made.Text(), R"({"spec":{"limits":[)" + std::string(c.error) + "]}}");
  }
}

TEST(LimitRangeTest, GeneratesNameIfMissing) {
  StrategyHarness ranges(NewLimitRangeStrategy());
  auto made = ranges.Create(R"({"spec":{"limits":[]}})");
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.object.object_meta()->name.size(), 36u);
}

TEST(LimitRangeTest, RejectsInconsistentQuantities) {
  StrategyHarness ranges(NewLimitRangeStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"limits":[{"type":"X"}]})",
       "spec.limits[0].type: Invalid value: \"X\": must be a standard limit type or fully "
       "qualified"},
      {R"("spec":{"limits":[{"type":"Pod"},{"type":"Pod"}]})",
       "spec.limits[1].type: Duplicate value: \"Pod\""},
      {R"("spec":{"limits":[{"type":"Container","max":{"cpu":"1"},"min":{"cpu":"2"}}]})",
       "[spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1, "
       "spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": min value 2 is greater than "
       "default request value 1, spec.limits[0].default[cpu]: Invalid value: \"2\": min value 2 is "
       "greater than default value 1]"},
      {R"("spec":{"limits":[{"type":"Container","default":{"cpu":"3"},"max":{"cpu":"2"}}]})",
       "[spec.limits[0].defaultRequest[cpu]: Invalid value: \"3\": default request value 3 is "
       "greater than max value 2, spec.limits[0].default[cpu]: Invalid value: \"2\": default value "
       "3 is greater than max value 2]"},
      {R"("spec":{"limits":[{"type":"Container","defaultRequest":{"cpu":"3"},
          "default":{"cpu":"2"}}]})",
       "spec.limits[0].defaultRequest[cpu]: Invalid value: \"3\": default request value 3 is "
       "greater than default limit value 2"},
      {R"("spec":{"limits":[{"type":"Container","maxLimitRequestRatio":{"cpu":"0"}}]})",
       "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"0\": ratio 0 is less than 1"},
      {R"("spec":{"limits":[{"type":"Container","maxLimitRequestRatio":{"cpu":"3"},
          "min":{"cpu":"1"},"max":{"cpu":"2"}}]})",
       "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"3\": ratio 3 is greater than "
       "max/min = 2.000000"},
      {R"("spec":{"limits":[{"type":"Pod","default":{"cpu":"1"}}]})",
       "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"},
      {R"("spec":{"limits":[{"type":"PersistentVolumeClaim"}]})",
       "spec.limits[0].limits: Required value: either minimum or maximum storage value is "
       "required, but neither was provided"},
      {R"("spec":{"limits":[{"type":"Pod","max":{"nope":"1"}}]})",
       "[spec.limits[0].max[nope]: Invalid value: \"nope\": must be a standard resource type or "
       "fully qualified, spec.limits[0].max[nope]: Invalid value: \"nope\": must be a standard "
       "resource for containers]"},
  };
  ExpectCreate(ranges, cases);
}

TEST(ResourceQuotaTest, ValidatesQuantities) {
  StrategyHarness quotas(NewResourceQuotaStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"hard":{"count/jobs.batch":"1","gold.storageclass.storage.k8s.io/requests.storage":
          "5Gi","requests.nvidia.com/gpu":"1","services.nodeports":"1"}})",
       ""},
      {R"("spec":{"hard":{"pods":"-1"}})",
       "spec.hard[pods]: Invalid value: \"-1\": must be greater than or equal to 0"},
      {R"("spec":{"hard":{"pods":"1.5"}})",
       "spec.hard[pods]: Invalid value: \"1500m\": must be an integer"},
      {R"("spec":{"hard":{"nope":"1"}})",
       "[spec.hard[nope]: Invalid value: \"nope\": must be a standard resource type or fully "
       "qualified, spec.hard[nope]: Invalid value: \"nope\": must be a standard resource for "
       "quota]"},
  };
  ExpectCreate(quotas, cases);
}

TEST(ResourceQuotaTest, ValidatesScopes) {
  StrategyHarness quotas(NewResourceQuotaStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"hard":{"pods":"1"},"scopes":["X"]})",
       "spec.scopes: Invalid value: [\"X\"]: unsupported scope"},
      {R"("spec":{"hard":{"pods":"1"},"scopes":["Terminating","NotTerminating"]})",
       "spec.scopes: Invalid value: [\"Terminating\",\"NotTerminating\"]: conflicting scopes"},
      {R"("spec":{"hard":{"cpu":"1"},"scopes":["BestEffort"]})",
       "spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope applied to resource"},
      {R"("spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":
          [{"scopeName":"PriorityClass","operator":"In"}]}})",
       "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value "
       "when "
       "`operator` is 'In' or 'NotIn' for scope selector"},
      {R"("spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":
          [{"scopeName":"BestEffort","operator":"In","values":["x"]}]}})",
       "spec.scopeSelector.matchExpressions.operator: Invalid value: \"In\": must be 'Exists' when "
       "scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
       "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
       "ResourceQuotaScopeCrossNamespacePodAffinity"},
  };
  ExpectCreate(quotas, cases);
}

TEST(ResourceQuotaTest, ScopesAreImmutableAndStatusUpdateIsSeparate) {
  StrategyHarness quotas(NewResourceQuotaStrategy());
  Object old = quotas
                   .Create(R"({"metadata":{"name":"a"},
                                 "spec":{"hard":{"pods":"1"},"scopes":["Terminating"]},
                                 "status":{"used":{"pods":"1"}}})")
                   .object;
  EXPECT_EQ(quotas.Update(old, R"({"spec":{"scopes":["NotTerminating"]}})").error,
            "spec.scopes: Invalid value: [\"NotTerminating\"]: field is immutable");
  auto status = quotas.Update(old, R"({"spec":{"hard":{"pods":"2"}},"status":
      {"hard":{"limits.cpu":"2","pods":"4"},"used":{"pods":"1"}}})",
                              "status");
  EXPECT_EQ(status.error, "");
  EXPECT_EQ(status.Text(),
            R"({"spec":{"hard":{"pods":"1"},"scopes":["Terminating"]},)"
            R"("status":{"hard":{"limits.cpu":"2","pods":"4"},"used":{"pods":"1"}}})");
  EXPECT_EQ(quotas.Row(status.object), R"(["a","pods: 1/4","limits.cpu: 0/2","60m"])");
}

}  // namespace
}  // namespace cox::apiserver

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
      "metadata": {"labels": {"app": "a", "x": "y"}},
      "spec": {"containers": [{"name": "c", "image": "app:1"}, {"name": "d", "image": "side:2"}]}
    }
  }
})";

StrategyTester Tester() { return {NewReplicaSetStrategy(), kBase}; }

TEST(ReplicaSet, RejectsInvalidSpecs) {
  StrategyTester tester = Tester();
  const std::string kMismatch =
      R"(spec.template.metadata.labels: Invalid value: {"app":"a","x":"y"}: )"
      "`selector` does not match template `labels`";
  ExpectCreateErrors(
      tester,
      {{"{}", {}},
       {R"({"spec": {"replicas": -1, "minReadySeconds": -1}})",
        {"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
         "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"}},
       {R"({"spec": {"selector": null}})", {"spec.selector: Required value", kMismatch}},
       {R"({"spec": {"selector": {"matchLabels": null}}})",
        {"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}},
       {R"({"spec": {"selector": {"matchLabels": {"app": "b"}}}})", {kMismatch}},
       {R"({"spec": {"template": {"spec": {"restartPolicy": "OnFailure"}}}})",
        {R"(spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: )"
         R"("Always")"}}});
}

TEST(ReplicaSet, SelectorIsImmutableAndGenerationCountsSpecChanges) {
  StrategyTester tester = Tester();
  Object old = tester.Create();
  EXPECT_EQ(tester.At(old, {"spec", "replicas"}), "1");
  ExpectUpdateErrors(tester, old,
                     {{R"({"spec": {"replicas": 3}})", {}},
                      {R"({"spec": {"selector": {"matchLabels": {"x": "y"}}}})",
                       {R"(spec.selector: Invalid value: {"matchLabels":{"app":"a","x":"y"}}: )"
                        "field is immutable"}}});
  EXPECT_EQ(
      tester.At(tester.Update(old, R"({"spec": {"replicas": 3}})"), {"metadata", "generation"}),
      "2");
  EXPECT_EQ(tester.At(tester.Update(old, R"({"metadata": {"annotations": {"a": "b"}}})"),
                      {"metadata", "generation"}),
            "1");
}

TEST(ReplicaSet, RejectsInvalidStatuses) {
  StrategyTester tester = Tester();
  ExpectUpdateErrors(
      tester, tester.Create(),
      {{R"({"status": {"replicas": 3, "readyReplicas": 2, "fullyLabeledReplicas": 3}})", {}},
       {R"({"status": {"replicas": 1, "fullyLabeledReplicas": 2, "availableReplicas": 1,
                       "terminatingReplicas": -1}})",
        {"status.terminatingReplicas: Invalid value: -1: must be greater than or equal to 0",
         "status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas",
         "status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas"}}},
      "status");
}

TEST(ReplicaSet, HasColumns) {
  StrategyTester tester = Tester();
  Object object = tester.Update(tester.Create(),
                                R"({"status": {"replicas": 3, "readyReplicas": 2}})", "status");
  EXPECT_EQ(tester.Row(object),
            R"(["web",1,3,2,"\u003cunknown\u003e","c,d","app:1,side:2","app=a"])");
}

}  // namespace
}  // namespace cox::apiserver

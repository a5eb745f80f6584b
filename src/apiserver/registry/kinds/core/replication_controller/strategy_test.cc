// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/replication_controller/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/testing/strategy_testing.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kBase = R"({
  "metadata": {"name": "web", "namespace": "default"},
  "spec": {"selector": {"app": "a"},
           "template": {"metadata": {"labels": {"app": "a"}},
                        "spec": {"containers": [{"name": "c", "image": "app:1"}]}}}
})";

StrategyTester Tester() { return {NewReplicationControllerStrategy(), kBase}; }

TEST(ReplicationController, TakesLabelsFromTemplate) {
  StrategyTester tester = Tester();
  Object object = tester.Create(R"({"spec": {"selector": null}})");
  EXPECT_EQ(tester.At(object, {"spec", "selector"}), R"({"app":"a"})");
  EXPECT_EQ(tester.At(object, {"metadata", "labels"}), R"({"app":"a"})");
  EXPECT_EQ(tester.At(object, {"spec", "replicas"}), "1");
  Object labeled = tester.Create(R"({"metadata": {"labels": {"x": "y"}}})");
  EXPECT_EQ(tester.At(labeled, {"metadata", "labels"}), R"({"x":"y"})");
}

TEST(ReplicationController, RejectsInvalidSpecs) {
  StrategyTester tester = Tester();
  ExpectCreateErrors(
      tester,
      {{"{}", {}},
       {R"({"spec": {"replicas": -1, "minReadySeconds": -1}})",
        {"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
         "spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
       {R"({"spec": {"selector": {"app": "b"}}})",
        {R"(spec.template.metadata.labels: Invalid value: {"app":"a"}: )"
         "`selector` does not match template `labels`"}},
       {R"({"spec": {"template": null}})", {"spec.template: Required value"}},
       {R"({"spec": {"selector": null, "template": {"metadata": null}}})",
        {"spec.selector: Required value"}},
       {R"({"spec": {"template": {"spec": {"restartPolicy": "Never"}}}})",
        {R"(spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: )"
         R"("Always")"}}});
}

TEST(ReplicationController, SelectorIsMutable) {
  StrategyTester tester = Tester();
  Object old = tester.Create();
  constexpr std::string_view kPatch =
      R"({"spec": {"selector": {"x": "y"}, "template": {"metadata": {"labels": {"x": "y"}}}}})";
  EXPECT_THAT(tester.UpdateErrors(old, kPatch), testing::IsEmpty());
  EXPECT_EQ(tester.At(tester.Update(old, kPatch), {"metadata", "generation"}), "2");
}

TEST(ReplicationController, RejectsInvalidStatuses) {
  StrategyTester tester = Tester();
  ExpectUpdateErrors(
      tester, tester.Create(),
      {{R"({"status": {"replicas": 1, "readyReplicas": 2}})",
        {"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"}}},
      "status");
}

TEST(ReplicationController, HasColumnsAndOrphansPodsByDefault) {
  StrategyTester tester = Tester();
  Object object = tester.Update(tester.Create(), R"({"status": {"replicas": 2}})", "status");
  EXPECT_THAT(tester.strategy().Fields(object),
              testing::ElementsAre(testing::Pair("status.replicas", "2")));
  EXPECT_EQ(tester.strategy().DefaultPropagation(object), Propagation::kOrphan);
  EXPECT_EQ(tester.strategy().storage_prefix(), "controllers");
  EXPECT_EQ(tester.Row(object), R"(["web",1,2,0,"\u003cunknown\u003e","c","app:1","app=a"])");
}

}  // namespace
}  // namespace cox::apiserver

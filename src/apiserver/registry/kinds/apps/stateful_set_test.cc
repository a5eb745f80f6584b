// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/registry/kinds/apps/strategies.h"
#include "apiserver/testing/strategy_testing.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kBase = R"({
  "metadata": {"name": "db", "namespace": "default"},
  "spec": {
    "serviceName": "s",
    "selector": {"matchLabels": {"app": "a"}},
    "template": {
      "metadata": {"labels": {"app": "a", "x": "y"}},
      "spec": {"containers": [{"name": "c", "image": "app:1"}]}
    }
  }
})";
constexpr std::string_view kClaims = R"({"spec": {"volumeClaimTemplates": [{
  "metadata": {"name": "d"},
  "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}})";

StrategyTester Tester() { return {NewStatefulSetStrategy(), kBase}; }

TEST(StatefulSet, SetsDefaults) {
  StrategyTester tester = Tester();
  Object object = tester.Create(kClaims);
  EXPECT_EQ(tester.At(object, {"spec", "replicas"}), "1");
  EXPECT_EQ(tester.At(object, {"spec", "podManagementPolicy"}), R"("OrderedReady")");
  EXPECT_EQ(tester.At(object, {"spec", "revisionHistoryLimit"}), "10");
  EXPECT_EQ(tester.At(object, {"spec", "updateStrategy"}),
            R"({"rollingUpdate":{"partition":0},"type":"RollingUpdate"})");
  EXPECT_EQ(tester.At(object, {"spec", "persistentVolumeClaimRetentionPolicy"}),
            R"({"whenDeleted":"Retain","whenScaled":"Retain"})");
  EXPECT_THAT(tester.At(object, {"spec", "volumeClaimTemplates"}),
              testing::AllOf(testing::HasSubstr(R"("volumeMode":"Filesystem")"),
                             testing::HasSubstr(R"("status":{"phase":"Pending"})")));
  EXPECT_EQ(tester.At(tester.Create(R"({"spec": {"updateStrategy": {"type": "OnDelete"},
                                   "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}}})"),
                      {"spec", "updateStrategy"}),
            R"({"type":"OnDelete"})");
}

TEST(StatefulSet, MaxUnavailableIsDroppedUnlessStored) {
  StrategyTester tester = Tester();
  constexpr std::string_view kPatch =
      R"({"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}}})";
  const std::string kWithout = R"({"rollingUpdate":{"partition":0},"type":"RollingUpdate"})";
  Object old = tester.Create(kPatch);
  EXPECT_EQ(tester.At(old, {"spec", "updateStrategy"}), kWithout);
  Object same = tester.Update(old, kPatch);
  EXPECT_EQ(tester.At(same, {"spec", "updateStrategy"}), kWithout);
  EXPECT_EQ(tester.At(same, {"metadata", "generation"}), "1");
  Object stored = tester.Decode(kPatch);
  EXPECT_THAT(tester.At(tester.Update(stored, "{}"), {"spec", "updateStrategy"}),
              testing::HasSubstr(R"("maxUnavailable":2)"));
}

TEST(StatefulSet, RejectsInvalidSpecs) {
  StrategyTester tester = Tester();
  ExpectCreateErrors(
      tester,
      {{"{}", {}},
       {kClaims, {}},
       {R"({"spec": {"podManagementPolicy": "X"}})",
        {R"(spec.podManagementPolicy: Invalid value: "X": must be 'OrderedReady' or 'Parallel')"}},
       {R"({"spec": {"updateStrategy": {"type": "X"}}})",
        {R"(spec.updateStrategy: Invalid value: {"Type":"X","RollingUpdate":null}: )"
         "must be 'RollingUpdate' or 'OnDelete'"}},
       {R"({"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}}})",
        {R"(spec.updateStrategy.rollingUpdate: Invalid value: )"
         R"({"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate')"}},
       {R"({"spec": {"updateStrategy": {"rollingUpdate": {"partition": -1}}}})",
        {"spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or "
         "equal to 0"}},
       {R"({"spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "X"}}})",
        {R"(spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "X": )"
         R"(supported values: "Retain", "Delete")"}},
       {R"({"spec": {"replicas": -1, "minReadySeconds": -1, "ordinals": {"start": -1}}})",
        {"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
         "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
         "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"}},
       {R"({"spec": {"selector": {"matchLabels": null}}})",
        {"spec.selector: Invalid value: {}: empty selector is invalid for statefulset"}},
       {R"({"spec": {"template": {"spec": {"restartPolicy": "Never"}}}})",
        {R"(spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: )"
         R"("Always")"}},
       {R"({"spec": {"volumeClaimTemplates": [{"metadata": {"name": "d"}}]}})",
        {"spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is "
         "required",
         "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"}}});
  EXPECT_THAT(
      tester.CreateErrors(R"({"spec": {"serviceName": "UP"}})"),
      testing::ElementsAre(testing::StartsWith(R"(spec.serviceName: Invalid value: "UP": )")));
}

TEST(StatefulSet, RejectsChangesOfImmutableSpecFields) {
  StrategyTester tester = Tester();
  Object old = tester.Create(kClaims);
  const std::string kFixed =
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', "
      "'template', 'updateStrategy', 'revisionHistoryLimit', "
      "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  ExpectUpdateErrors(
      tester, old,
      {{R"({"spec": {"replicas": 3, "ordinals": {"start": 2}, "minReadySeconds": 5,
                     "revisionHistoryLimit": 4, "updateStrategy": {"type": "OnDelete",
                     "rollingUpdate": null}, "template": {"metadata": {"labels": {"z": "z"}}},
                     "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}}})",
        {}},
       {R"({"spec": {"selector": {"matchLabels": {"app": null, "x": "y"}}}})", {kFixed}},
       {R"({"spec": {"serviceName": "t"}})", {kFixed}},
       {R"({"spec": {"podManagementPolicy": "Parallel"}})", {kFixed}},
       {R"({"spec": {"volumeClaimTemplates": null}})", {kFixed}}});
}

TEST(StatefulSet, RejectsInvalidStatuses) {
  StrategyTester tester = Tester();
  ExpectUpdateErrors(
      tester, tester.Create(),
      {{R"({"status": {"replicas": 2, "readyReplicas": 1, "currentRevision": "x"}})", {}},
       {R"({"status": {"replicas": 1, "currentReplicas": 2, "availableReplicas": 1}})",
        {"status.currentReplicas: Invalid value: 2: cannot be greater than status.replicas",
         "status.availableReplicas: Invalid value: 1: cannot be greater than "
         "status.readyReplicas"}}},
      "status");
}

TEST(StatefulSet, WarnsAboutNegativeRevisionHistoryLimit) {
  StrategyTester tester = Tester();
  EXPECT_THAT(tester.CreateWarnings(R"({"spec": {"revisionHistoryLimit": -1}})"),
              testing::ElementsAre("spec.revisionHistoryLimit: a negative value retains all "
                                   "historical revisions; a value >= 0 is recommended"));
}

TEST(StatefulSet, HasColumnsAndRequiresDnsLabelName) {
  StrategyTester tester = Tester();
  EXPECT_EQ(tester.Row(tester.Create()), R"(["db","0/1","\u003cunknown\u003e","c","app:1"])");
  EXPECT_THAT(tester.strategy().name_rule()("a.b", false),
              testing::ElementsAre("must not contain dots"));
}

}  // namespace
}  // namespace cox::apiserver

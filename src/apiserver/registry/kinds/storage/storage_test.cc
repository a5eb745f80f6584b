// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "apiserver/registry/kinds/storage/kinds.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

TEST(StorageClassTest, RejectsInvalidClasses) {
  const CreateCase cases[] = {
      {R"("provisioner":"example.com/P")", ""},
      {R"("provisioner":"")", "provisioner: Required value"},
      {R"("provisioner":"x/y","reclaimPolicy":"Recycle")",
       R"(reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain")"},
      {R"("provisioner":"x/y","volumeBindingMode":"X")",
       R"(volumeBindingMode: Unsupported value: "X": supported values: "Immediate", )"
       R"("WaitForFirstConsumer")"},
      {R"("provisioner":"x/y","parameters":{"":"x"})",
       R"(parameters: Invalid value: "": field can not be empty.)"},
      {R"("provisioner":"x/y","allowedTopologies":[{"matchLabelExpressions":[)"
       R"({"key":"z","values":["a","a"]}]},{"matchLabelExpressions":[{"key":"z","values":["a","a"]}]}])",
       R"([allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a", )"
       R"(allowedTopologies[1].matchLabelExpressions[0].values[1]: Duplicate value: "a", )"
       R"(allowedTopologies[1]: Duplicate value: ""])"},
  };
  StrategyHarness classes(NewStorageClassStrategy());
  ExpectCreate(classes, cases);
}

TEST(StorageClassTest, OnlyExpansionAndMountOptionsAreMutable) {
  StrategyHarness classes(NewStorageClassStrategy());
  auto made = classes.Create(R"({"metadata":{"name":"a","annotations":
      {"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"x/y","parameters":{"a":"b"}})");
  EXPECT_EQ(classes.Row(made.object),
            R"x(["a (default)","x/y","Delete","Immediate",false,"60m"])x");
  auto error = [&](std::string_view patch) { return classes.Update(made.object, patch).error; };
  EXPECT_EQ(error(R"({"allowVolumeExpansion":true,"mountOptions":["x"]})"), "");
  EXPECT_EQ(error(R"({"provisioner":"z/z"})"),
            R"(provisioner: Invalid value: "z/z": field is immutable)");
  EXPECT_EQ(error(R"({"parameters":{"a":"z"}})"),
            R"(parameters: Invalid value: {"a":"z"}: field is immutable)");
  EXPECT_EQ(error(R"({"reclaimPolicy":"Retain"})"),
            R"(reclaimPolicy: Invalid value: "Retain": field is immutable)");
}

TEST(StorageClassTest, WarnsAboutDeprecatedNodeLabels) {
  StrategyHarness classes(NewStorageClassStrategy());
  auto made = classes.Create(R"({"metadata":{"name":"a"},"provisioner":"x/y","allowedTopologies":[
      {"matchLabelExpressions":[{"key":"failure-domain.beta.kubernetes.io/zone","values":["a"]}]}]})");
  EXPECT_EQ(made.warnings,
            Warnings{"allowedTopologies[0].matchLabelExpressions[0].key: "
                     "failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "
                     "\"topology.kubernetes.io/zone\" instead"});
}

TEST(VolumeAttributesClassTest, ParametersAreRequiredAndImmutable) {
  StrategyHarness classes(NewVolumeAttributesClassStrategy());
  const CreateCase cases[] = {
      {R"("driverName":"d.example.com","parameters":{"iops":"5"})", ""},
      {R"("driverName":"d.example.com")",
       "parameters: Required value: must contain at least one key/value pair"},
  };
  ExpectCreate(classes, cases);
  auto made = classes.Create(
      R"({"metadata":{"name":"a"},"driverName":"d.example.com","parameters":{"iops":"5"}})");
  EXPECT_EQ(classes.Update(made.object, R"({"parameters":{"iops":"6"}})").error,
            R"(parameters: Invalid value: {"iops":"6"}: field is immutable)");
}

TEST(CsiDriverTest, SetsDefaultsAndValidatesSpec) {
  StrategyHarness drivers(NewCsiDriverStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"fsGroupPolicy":"X"})",
       R"(spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", )"
       R"("ReadWriteOnceWithFSType")"},
      {R"("spec":{"volumeLifecycleModes":["X"]})",
       R"(spec.volumeLifecycleModes: Unsupported value: "X": supported values: "Persistent", )"
       R"("Ephemeral")"},
      {R"("spec":{"tokenRequests":[{"audience":"a"},{"audience":"a"}]})",
       R"(spec.tokenRequests[1].audience: Duplicate value: "a")"},
      {R"("spec":{"tokenRequests":[{"audience":"a","expirationSeconds":5}]})",
       "spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration "
       "less than 10 minutes"},
      {R"("spec":{"nodeAllocatableUpdatePeriodSeconds":5})",
       "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 5: must be greater than or equal "
       "to 10 seconds"},
  };
  ExpectCreate(drivers, cases);
  auto made = drivers.Create(R"({"metadata":{"name":"a"},"spec":{}})");
  EXPECT_EQ(made.Text(),
            R"({"spec":{"attachRequired":true,"fsGroupPolicy":"ReadWriteOnceWithFSType",)"
            R"("podInfoOnMount":false,"requiresRepublish":false,"seLinuxMount":false,)"
            R"("storageCapacity":false,"volumeLifecycleModes":["Persistent"]}})");
  EXPECT_EQ(made.object.object_meta()->generation, 0);
  auto changed = drivers.Update(made.object, R"({"spec":{"podInfoOnMount":true}})");
  EXPECT_EQ(changed.object.object_meta()->generation, 1);
  EXPECT_EQ(drivers.Update(made.object, R"({"spec":{"attachRequired":false}})").error,
            "spec.attachedRequired: Invalid value: false: field is immutable");
}

TEST(CsiNodeTest, ValidatesDriversAndNodeIDIsImmutable) {
  StrategyHarness nodes(NewCsiNodeStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"drivers":[{"name":"d","nodeID":"n","topologyKeys":["a","a"]}]})",
       R"(spec.drivers[0]: Duplicate value: "a")"},
      {R"("spec":{"drivers":[{"name":"d","nodeID":"n"},{"name":"d","nodeID":"m"}]})",
       R"(spec.drivers[1].name: Duplicate value: "d")"},
      {R"("spec":{"drivers":[{"name":"d","nodeID":"n","allocatable":{"count":-1}}]})",
       "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0"},
  };
  ExpectCreate(nodes, cases);
  auto made =
      nodes.Create(R"({"metadata":{"name":"a"},"spec":{"drivers":[{"name":"d","nodeID":"n"}]}})");
  EXPECT_EQ(nodes.Row(made.object), R"(["a",1,"60m"])");
  EXPECT_EQ(nodes.Update(made.object, R"({"spec":{"drivers":[{"name":"d","nodeID":"z"}]}})").error,
            R"(spec.drivers: Invalid value: {"Name":"d","NodeID":"z","TopologyKeys":null,)"
            R"("Allocatable":null}: field is immutable)");
  EXPECT_EQ(nodes
                .Update(made.object, R"({"spec":{"drivers":[{"name":"d","nodeID":"n",
      "allocatable":{"count":3}},{"name":"e","nodeID":"m"}]}})")
                .error,
            "");
}

TEST(CsiStorageCapacityTest, TopologyAndClassAreImmutable) {
  StrategyHarness capacities(NewCsiStorageCapacityStrategy());
  const CreateCase cases[] = {
      {R"("storageClassName":"s","capacity":"1Gi","maximumVolumeSize":"-1")", ""},
      {R"("storageClassName":"s","capacity":"-1")",
       R"(capacity: Invalid value: "-1": must be greater than or equal to 0)"},
  };
  ExpectCreate(capacities, cases);
  auto made =
      capacities.Create(R"({"metadata":{"name":"a"},"storageClassName":"s","capacity":"1Gi"})");
  EXPECT_EQ(capacities.Row(made.object), R"(["a","2023-11-14T22:13:20Z"])");
  EXPECT_EQ(capacities.Update(made.object, R"({"capacity":"2Gi"})").error, "");
  EXPECT_EQ(capacities.Update(made.object, R"({"nodeTopology":{"matchLabels":{"a":"b"}}})").error,
            R"(nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable)");
}

TEST(VolumeAttachmentTest, RequiresOneVolumeAndSpecIsImmutable) {
  StrategyHarness attachments(NewVolumeAttachmentStrategy());
  auto spec = [](std::string_view source) {
    return R"({"metadata":{"name":"a"},"spec":{"attacher":"a.example.com","nodeName":"n","source":)" +
           std::string(source) + "}}";
  };
  auto error = [&](std::string_view source) { return attachments.Create(spec(source)).error; };
  EXPECT_EQ(error(R"({"persistentVolumeName":"p"})"), "");
  EXPECT_EQ(error(R"({"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],
      "csi":{"driver":"d","volumeHandle":"h"}}})"),
            "");
  EXPECT_EQ(error("{}"),
            "spec.source: Required value: must specify exactly one of "
            "inlineVolumeSpec and persistentVolumeName");
  EXPECT_EQ(error(R"({"persistentVolumeName":"p","inlineVolumeSpec":{}})"),
            "spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and "
            "persistentVolumeName");
  EXPECT_EQ(error(R"({"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/"},
      "capacity":{"storage":"1"}}})"),
            "[spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the "
            "context of inline volumes, spec.source.inlineVolumeSpec.csi: Required value: has to "
            "be specified in the context of inline volumes]");

  auto made = attachments.Create(spec(R"({"persistentVolumeName":"p"})"));
  EXPECT_EQ(attachments.Row(made.object), R"(["a","a.example.com","p","n",false,"60m"])");
  EXPECT_EQ(attachments.Update(made.object, R"({"spec":{"nodeName":"z"}})").error,
            R"(spec: Invalid value: {"Attacher":"a.example.com","Source":{"PersistentVolumeName":)"
            R"("p","InlineVolumeSpec":null},"NodeName":"z"}: field is immutable)");
  auto status = attachments.Update(
      made.object, R"({"metadata":{"labels":{"a":"b"}},"status":{"attached":true}})", "status");
  EXPECT_EQ(status.error, "");
  EXPECT_TRUE(status.object.object_meta()->labels.empty());
  EXPECT_EQ(attachments.Row(status.object), R"(["a","a.example.com","p","n",true,"60m"])");
}

}  // namespace
}  // namespace cox::apiserver

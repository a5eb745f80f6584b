// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/volume/strategy.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

// A volume with size, access modes and these members of the spec.
std::string With(std::string_view spec) {
  return R"({"metadata":{"name":"a"},"spec":{"capacity":{"storage":"1Gi"},)"
         R"("accessModes":["ReadWriteOnce"],)" +
         std::string(spec) + "}}";
}

TEST(PersistentVolumeTest, SetsDefaultsAndPhase) {
  StrategyHarness volumes(NewPersistentVolumeStrategy());
  auto made =
      volumes.Create(With(R"("hostPath":{"path":"/x"},"claimRef":{"namespace":"n","name":"c"})"));
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.Text(),
            R"({"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},)"
            R"("claimRef":{"name":"c","namespace":"n"},"hostPath":{"path":"/x","type":""},)"
            R"("persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem"},"status":)"
            R"({"lastPhaseTransitionTime":"2023-11-14T22:13:20Z","phase":"Pending"}})");
  EXPECT_EQ(volumes.Row(made.object),
            R"(["a","1Gi","RWO","Retain","Pending","n/c","","\u003cunset\u003e","","60m",)"
            R"("Filesystem"])");
}

TEST(PersistentVolumeTest, RejectsInvalidSizesModesAndPolicies) {
  const CreateCase cases[] = {
      {R"("spec":{"capacity":{},"accessModes":[],"hostPath":{"path":"/x"}})",
       "[spec.accessModes: Required value, spec.capacity: Required value, spec.capacity: "
       R"(Unsupported value: {}: supported values: "storage"])"},
      {R"("spec":{"capacity":{"storage":"-1"},"accessModes":["ReadWriteOnce"],)"
       R"("hostPath":{"path":"/x"}})",
       "[spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity, "
       R"(spec.capacity[storage]: Invalid value: "-1": must be greater than zero])"},
      {R"("spec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOncePod","ReadOnlyMany"],)"
       R"("hostPath":{"path":"/x"}})",
       "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"},
      {R"("spec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOnce"],)"
       R"("hostPath":{"path":"/a/.."},"persistentVolumeReclaimPolicy":"Recycle"})",
       R"([spec.hostPath.path: Invalid value: "/a/..": must not contain '..', )"
       "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount "
       "of '/']"},
  };
  StrategyHarness volumes(NewPersistentVolumeStrategy());
  ExpectCreate(volumes, cases);
}

TEST(PersistentVolumeTest, RequiresExactlyOneSource) {
  struct Case {
    std::string_view source, error;
  };
  const Case cases[] = {
      {R"("volumeMode":"Block")", "spec: Required value: must specify a volume type"},
      {R"("hostPath":{"path":"/x"},"nfs":{"server":"a","path":"/b"})",
       "spec.nfs: Forbidden: may not specify more than 1 volume type"},
      {R"("hostPath":{"path":""})", "spec.hostPath.path: Required value"},
      {R"("hostPath":{"path":"/x","type":"X"})",
       R"(spec.hostPath.type: Unsupported value: "X": supported values: "", "BlockDevice", )"
       R"("CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")"},
      {R"("nfs":{"server":"","path":"b"})",
       R"([spec.nfs.server: Required value, spec.nfs.path: Invalid value: "b": must be an )"
       "absolute path]"},
      {R"("csi":{"driver":"","volumeHandle":""})",
       "[spec.csi.driver: Required value, spec.csi.volumeHandle: Required value]"},
      {R"("csi":{"driver":"d","volumeHandle":"h","nodePublishSecretRef":{"name":"x"}})",
       "spec.csi.nodePublishSecretRef.namespace: Required value"},
      {R"("iscsi":{"targetPortal":"1.2.3.4","iqn":"iqn.2015-02.example.com:test","lun":0})", ""},
      {R"("iscsi":{"targetPortal":"1.2.3.4","iqn":"iqn.2015-02.example.com","lun":256})",
       R"([spec.iscsi.iqn: Invalid value: "iqn.2015-02.example.com": must be valid format, )"
       "spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive]"},
      {R"("iscsi":{"targetPortal":"1.2.3.4","iqn":"eui.0123456789abcdef","lun":0})", ""},
      {R"("iscsi":{"targetPortal":"1.2.3.4","iqn":"xyz","lun":0})",
       R"(spec.iscsi.iqn: Invalid value: "xyz": must be valid format starting with iqn, eui, or naa)"},
      {R"("fc":{"targetWWNs":["a"],"wwids":["b"],"lun":1})",
       R"(spec.fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified )"
       "simultaneously"},
      {R"("fc":{"targetWWNs":["a"]})",
       "spec.fc.lun: Required value: lun is required if targetWWNs is specified"},
      {R"("flexVolume":{"driver":"d","options":{"x.kubernetes.io/y":"z"}})",
       R"(spec.flexVolume.options[x.kubernetes.io/y]: Invalid value: "x.kubernetes.io/y": )"
       "kubernetes.io and k8s.io namespaces are reserved"},
      {R"("quobyte":{"registry":"host","volume":"v"})",
       R"(spec.quobyte.registry: Invalid value: "host": must be a host:port pair or multiple pairs )"
       "separated by commas"},
      {R"("quobyte":{"registry":"host:1,[::1]:2","volume":"v"})", ""},
      {R"("azureDisk":{"diskName":"d","diskURI":"x","kind":"Managed"})",
       R"(spec.azureDisk.diskURI: Unsupported value: "x": supported values: )"
       R"("/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}")"},
      {R"("flocker":{})",
       "spec.flocker: Required value: one of datasetName and datasetUUID is required"},
      {R"("local":{"path":"/x"})",
       "spec.nodeAffinity: Required value: Local volume requires node affinity"},
      {R"("storageos":{"volumeName":"UP_"})",
       "spec.storageos.volumeName: Invalid value: \"UP_\": a lowercase RFC 1123 label must consist "
       "of lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
       "character (e.g. 'my-name',  or '123-abc', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"},
      {R"("hostPath":{"path":"/x"},"volumeAttributesClassName":"v")",
       "spec.csi: Required value: has to be specified when using volumeAttributesClassName"},
  };
  StrategyHarness volumes(NewPersistentVolumeStrategy());
  for (const Case& c : cases) {
    EXPECT_EQ(volumes.Create(With(c.source)).error, c.error) << c.source;
  }
}

TEST(PersistentVolumeTest, ValidatesNodeAffinity) {
  StrategyHarness volumes(NewPersistentVolumeStrategy());
  auto error = [&](std::string_view affinity) {
    return volumes
        .Create(With(R"("hostPath":{"path":"/x"},"nodeAffinity":)" + std::string(affinity)))
        .error;
  };
  auto term = [](std::string_view text) {
    return R"({"required":{"nodeSelectorTerms":[)" + std::string(text) + "]}}";
  };
  const std::string at = "spec.nodeAffinity.required.nodeSelectorTerms[0]";
  EXPECT_EQ(error("{}"),
            "spec.nodeAffinity.required: Required value: must specify required node constraints");
  EXPECT_EQ(error(term(R"({"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]})")),
            "");
  EXPECT_EQ(error(term(R"({"matchExpressions":[{"key":"a","operator":"In"}]})")),
            at + ".matchExpressions[0].values: Required value: must be specified when `operator` "
                 "is 'In' or 'NotIn'");
  EXPECT_EQ(error(term(R"({"matchFields":[{"key":"x","operator":"Exists"}]})")),
            "[" + at +
                ".matchFields[0].operator: Invalid value: \"Exists\": not a valid selector "
                "operator, " +
                at + ".matchFields[0].key: Invalid value: \"x\": not a valid field selector key]");
}

TEST(PersistentVolumeTest, SourceIsImmutableAndErrorContainsDiff) {
  StrategyHarness volumes(NewPersistentVolumeStrategy());
  const Object made =
      volumes.Create(With(R"("csi":{"driver":"d.example.com","volumeHandle":"h"})")).object;
  EXPECT_EQ(volumes.Update(made, R"({"spec":{"csi":{"volumeHandle":"z"}}})").error,
            "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable "
            "after creation\n@@ -22,7 +22,7 @@\n  \"StorageOS\": null,\n  \"CSI\": {\n   "
            "\"Driver\": \"d.example.com\",\n-  \"VolumeHandle\": \"h\",\n+  \"VolumeHandle\": "
            "\"z\",\n   \"ReadOnly\": false,\n   \"FSType\": \"\",\n   \"VolumeAttributes\": "
            "null,\n");
  EXPECT_EQ(volumes.Update(made, R"({"spec":{"volumeMode":"Block"}})").error,
            R"(volumeMode: Invalid value: "Block": field is immutable)");
  EXPECT_EQ(volumes
                .Update(made, R"({"spec":{"csi":{"controllerExpandSecretRef":
      {"name":"s","namespace":"n"}},"capacity":{"storage":"2Gi"}}})")
                .error,
            "");
}

TEST(PersistentVolumeTest, NodeAffinityIsImmutableExceptForRenamedLabels) {
  StrategyHarness volumes(NewPersistentVolumeStrategy());
  auto affinity = [](std::string_view key) {
    return R"("nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":")" +
           std::string(key) + R"(","operator":"Exists"}]}]}})";
  };
  const Object made = volumes
                          .Create(With(R"("local":{"path":"/x"},)" +
                                       affinity("failure-domain.beta.kubernetes.io/zone")))
                          .object;
  EXPECT_EQ(
      volumes.Update(made, R"({"spec":{)" + affinity("topology.kubernetes.io/zone") + "}}").error,
      "");
  EXPECT_EQ(
      volumes.Update(made, R"({"spec":{)" + affinity("other") + "}}").error,
      R"(nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":)"
      R"([{"Key":"other","Operator":"Exists","Values":null}],"MatchFields":null}]}}: field is )"
      "immutable");
}

TEST(PersistentVolumeTest, StatusUpdateSetsPhaseTransitionTime) {
  StrategyHarness volumes(NewPersistentVolumeStrategy());
  Object made = volumes.Create(With(R"("hostPath":{"path":"/x"})")).object;
  made.As<core::v1::PersistentVolume>()->status.lastPhaseTransitionTime = Time::FromUnix(1);
  auto time = [&](std::string_view status) {
    return volumes.Update(made, R"({"status":)" + std::string(status) + "}", "status")
        .object.As<core::v1::PersistentVolume>()
        ->status.lastPhaseTransitionTime->unix_seconds();
  };
  EXPECT_EQ(time(R"({"message":"m"})"), 1);
  EXPECT_EQ(time(R"({"phase":"Bound"})"), 1'700'000'000);
  EXPECT_EQ(time(R"({"phase":"Bound","lastPhaseTransitionTime":"1970-01-01T00:00:05Z"})"), 5);
}

TEST(PersistentVolumeTest, WarnsAboutRemovedVolumeTypes) {
  StrategyHarness volumes(NewPersistentVolumeStrategy());
  EXPECT_EQ(volumes.Create(With(R"("rbd":{"monitors":["m"],"image":"i"})")).warnings,
            Warnings{"spec.rbd: deprecated in v1.28, non-functional in v1.31+"});
}

TEST(PersistentVolumeTest, OnlySomeSourcesAllowMountOptionsAnnotation) {
  StrategyHarness volumes(NewPersistentVolumeStrategy());
  auto error = [&](std::string_view source) {
    return volumes
        .Create(R"({"metadata":{"name":"a","annotations":
            {"volume.beta.kubernetes.io/mount-options":"b"}},"spec":{"capacity":{"storage":"1"},
            "accessModes":["ReadWriteOnce"],)" +
                std::string(source) + "}}")
        .error;
  };
  EXPECT_EQ(error(R"("nfs":{"server":"s","path":"/p"})"), "");
  EXPECT_EQ(error(R"("hostPath":{"path":"/x"})"),
            "metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not "
            "specify mount options for this volume type");
}

}  // namespace
}  // namespace cox::apiserver

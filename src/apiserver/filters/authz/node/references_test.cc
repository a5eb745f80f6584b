// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/node/references.h"

#include <gtest/gtest.h>

#include <map>

#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

template <class T>
T Read(std::string_view json) {
  T object;
  const Status status = json::Decode(json, T::kType, &object);
  EXPECT_TRUE(status.ok()) << status.message();
  return object;
}

// "secret ns/a, claim ns/b", in order.
std::string Text(const std::vector<NodeObjectRef>& references) {
  static const std::map<NodeObject, std::string> kNames = {
      {NodeObject::kSecret, "secret"},          {NodeObject::kConfigMap, "map"},
      {NodeObject::kServiceAccount, "account"}, {NodeObject::kClaim, "claim"},
      {NodeObject::kResourceClaim, "resource"},
  };
  std::string text;
  for (const NodeObjectRef& ref : references) {
    text += (text.empty() ? "" : ", ") + kNames.at(ref.type) + " " + ref.ns + "/" + ref.name;
  }
  return text;
}

std::string OfPod(const std::string& spec, const std::string& rest = "") {
  return Text(ReferencesOf(Read<core::v1::Pod>(R"({"metadata":{"name":"p","namespace":"ns")" +
                                               rest + R"(},"spec":)" + spec + "}")));
}

TEST(References, OfPodAreFoundInAllFields) {
  const struct {
    std::string_view spec, want;
  } kCases[] = {
      {R"({"containers":[{"name":"c"}]})", ""},
      {R"({"serviceAccountName":"sa"})", "account ns/sa"},
      {R"({"imagePullSecrets":[{"name":"pull"},{}]})", "secret ns/pull"},
      {R"({"containers":[{"envFrom":[{"secretRef":{"name":"s"}},{"configMapRef":{"name":"m"}}]}]})",
       "secret ns/s, map ns/m"},
      {R"({"initContainers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}]})",
       "secret ns/s"},
      {R"({"ephemeralContainers":[{"env":[{"valueFrom":{"configMapKeyRef":{"name":"m"}}}],
           "envFrom":[{"secretRef":{"name":"s"}}]}]})",
       "secret ns/s, map ns/m"},
      {R"({"volumes":[{"secret":{"secretName":"s"}},{"configMap":{"name":"m"}}]})",
       "secret ns/s, map ns/m"},
      {R"({"volumes":[{"projected":{"sources":[{"secret":{"name":"s"}},{"configMap":{"name":"m"}},
           {"serviceAccountToken":{"path":"t"}}]}}]})",
       "secret ns/s, map ns/m"},
      {R"({"volumes":[{"csi":{"driver":"d","nodePublishSecretRef":{"name":"csi"}}},
           {"azureFile":{"secretName":"azure"}},{"cephfs":{"secretRef":{"name":"ceph"}}},
           {"cinder":{"secretRef":{"name":"cinder"}}},{"flexVolume":{"secretRef":{"name":"flex"}}},
           {"iscsi":{"secretRef":{"name":"iscsi"}}},{"rbd":{"secretRef":{"name":"rbd"}}},
           {"scaleIO":{"secretRef":{"name":"sio"}}},{"storageos":{"secretRef":{"name":"sos"}}}]})",
       "secret ns/azure, secret ns/ceph, secret ns/cinder, secret ns/csi, secret ns/flex, secret "
       "ns/iscsi, secret ns/rbd, secret ns/sio, secret ns/sos"},
      {R"({"volumes":[{"persistentVolumeClaim":{"claimName":"c"}},{"name":"v","ephemeral":{}}]})",
       "claim ns/c, claim ns/p-v"},
      {R"({"resourceClaims":[{"name":"a","resourceClaimName":"r"},
           {"name":"b","resourceClaimTemplateName":"t"}]})",
       "resource ns/r"},
      {R"({"volumes":[{"secret":{"secretName":"s"}}],"imagePullSecrets":[{"name":"s"}]})",
       "secret ns/s"},
  };
  for (const auto& c : kCases) EXPECT_EQ(OfPod(std::string(c.spec)), c.want) << c.spec;
}

TEST(References, OfPodIncludeClaimsInStatus) {
  EXPECT_EQ(Text(ReferencesOf(Read<core::v1::Pod>(
                R"({"metadata":{"name":"p","namespace":"ns"},
                    "spec":{"resourceClaims":[{"name":"b","resourceClaimTemplateName":"t"}]},
                    "status":{"resourceClaimStatuses":[{"name":"b","resourceClaimName":"made"}],
                              "extendedResourceClaimStatus":{"resourceClaimName":"ext"}}})"))),
            "resource ns/ext, resource ns/made");
}

TEST(References, OfMirrorPodAreEmpty) {
  EXPECT_EQ(OfPod(R"({"serviceAccountName":"sa","volumes":[{"secret":{"secretName":"s"}}]})",
                  R"(,"annotations":{"kubernetes.io/config.mirror":""})"),
            "");
}

TEST(References, OfVolumeAreNodeSecretsOnly) {
  const struct {
    std::string_view spec, want;
  } kCases[] = {
      {R"({"csi":{"controllerPublishSecretRef":{"name":"a","namespace":"x"},
           "controllerExpandSecretRef":{"name":"b","namespace":"x"},
           "nodePublishSecretRef":{"name":"c","namespace":"x"},
           "nodeStageSecretRef":{"name":"d","namespace":"x"},
           "nodeExpandSecretRef":{"name":"e","namespace":"x"}}})",
       "secret x/c, secret x/d, secret x/e"},
      {R"({"cephfs":{"secretRef":{"name":"s"}},"claimRef":{"namespace":"ns","name":"c"}})",
       "secret ns/s"},
      {R"({"cephfs":{"secretRef":{"name":"s","namespace":"y"}},"claimRef":{"namespace":"ns"}})",
       "secret y/s"},
      {R"({"azureFile":{"secretName":"s"},"claimRef":{"namespace":"ns"}})", "secret ns/s"},
      {R"({"azureFile":{"secretName":"s","secretNamespace":"z"}})", "secret z/s"},
      {R"({"hostPath":{"path":"/x"}})", ""},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Text(SecretsOf(
                  Read<core::v1::PersistentVolume>(R"({"spec":)" + std::string(c.spec) + "}"))),
              c.want)
        << c.spec;
  }
}

}  // namespace
}  // namespace cox::apiserver

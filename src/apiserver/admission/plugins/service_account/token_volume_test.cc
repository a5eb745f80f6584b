// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/service_account/token_volume.h"

#include <gtest/gtest.h>

#include "object/codec/json/json.h"
#include "object/object.h"

namespace cox::apiserver::service_account {
namespace {

using core::v1::PodSpec;

PodSpec SpecOf(const std::string& text) {
  Object object(core::v1::Pod::kKind);
  EXPECT_TRUE(object.FromValue(*json::Parse(R"({"spec":)" + text + "}")).ok()) << text;
  return object.As<core::v1::Pod>()->spec;
}

std::string FiveLetters(std::string_view prefix) { return std::string(prefix) + "abcde"; }

TEST(TokenVolumeTest, ContainsTokenCaAndNamespace) {
  PodSpec spec = SpecOf(R"({"containers":[{"name":"c"}]})");
  MountToken(spec, FiveLetters);
  core::v1::Pod pod;
  pod.spec.volumes = spec.volumes;
  const Value got = *Object::Of(std::move(pod)).ToValue().At({"spec", "volumes"});
  EXPECT_EQ(got, *json::Parse(R"([{"name":"kube-api-access-abcde","projected":{
      "defaultMode":420,
      "sources":[
        {"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},
        {"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},
        {"downwardAPI":{"items":[{"path":"namespace",
            "fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}]}}])"));
}

TEST(TokenVolumeTest, IsMountedUnlessThePathIsInUse) {
  PodSpec spec = SpecOf(R"({
      "initContainers":[{"name":"i"}],
      "containers":[{"name":"c"},
                    {"name":"own","volumeMounts":[{"name":"v",
                        "mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}]})");
  MountToken(spec, FiveLetters);
  for (const core::v1::Container& container : {spec.initContainers[0], spec.containers[0]}) {
    ASSERT_EQ(container.volumeMounts.size(), 1u) << container.name;
    EXPECT_EQ(container.volumeMounts[0].name, "kube-api-access-abcde");
    EXPECT_EQ(container.volumeMounts[0].mountPath, kTokenMountPath);
    EXPECT_TRUE(container.volumeMounts[0].readOnly);
  }
  ASSERT_EQ(spec.containers[1].volumeMounts.size(), 1u);
  EXPECT_EQ(spec.containers[1].volumeMounts[0].name, "v");
}

TEST(TokenVolumeTest, IsNotAddedIfNoContainerNeedsIt) {
  PodSpec spec = SpecOf(R"({"containers":[{"name":"own","volumeMounts":[{"name":"v",
      "mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}]})");
  MountToken(spec, FiveLetters);
  EXPECT_TRUE(spec.volumes.empty());
}

TEST(TokenVolumeTest, ExistingVolumeIsReused) {
  PodSpec spec = SpecOf(R"({"containers":[{"name":"c"}],
                            "volumes":[{"name":"kube-api-access-mine","emptyDir":{}}]})");
  MountToken(spec, FiveLetters);
  EXPECT_EQ(spec.volumes.size(), 1u);
  EXPECT_EQ(spec.containers[0].volumeMounts.at(0).name, "kube-api-access-mine");
}

TEST(TokenVolumeTest, PodSettingTakesPrecedenceOverAccount) {
  const std::optional<bool> kSays[] = {std::nullopt, true, false};
  for (const std::optional<bool>& account_says : kSays) {
    for (const std::optional<bool>& pod_says : kSays) {
      core::v1::ServiceAccount account;
      account.automountServiceAccountToken = account_says;
      PodSpec spec;
      spec.automountServiceAccountToken = pod_says;
      EXPECT_EQ(WantsToken(account, spec), pod_says.value_or(account_says.value_or(true)));
    }
  }
}

}  // namespace
}  // namespace cox::apiserver::service_account

// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "api/core/v1.h"
#include "apiserver/admission/plugins/service_account/service_account.h"
#include "apiserver/testing/write_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using core::v1::Pod;
using core::v1::ServiceAccount;

class ServiceAccountTest : public ::testing::Test {
 protected:
  // Creates an account in "default" with the given JSON.
  void Account(const std::string& name, const std::string& rest = "{}") {
    Object account(ServiceAccount::kKind);
    ASSERT_TRUE(account.FromValue(*json::Parse(rest)).ok()) << rest;
    account.object_meta()->name = name;
    account.object_meta()->namespace_ = "default";
    api_.Create(std::move(account));
  }
  static Object PodOf(const std::string& spec, const std::string& annotations = "{}") {
    Object pod(Pod::kKind);
    EXPECT_TRUE(pod.FromValue(*json::Parse(R"({"metadata":{"name":"p","namespace":"default",)"
                                           R"("annotations":)" +
                                           annotations + R"(},"spec":)" + spec + "}"))
                    .ok());
    return pod;
  }
  AdmissionRequest Request(const Object& pod, Operation operation = Operation::kCreate,
                           std::string subresource = {}) {
    return {.operation = operation,
            .resource = api_.registry().Hub(Pod::kKind),
            .subresource = std::move(subresource),
            .ns = "default",
            .name = pod.object_meta()->name,
            .user = user_,
            .object = &pod};
  }
  Status Mutate(Object& pod) { return plugin_->Mutate(api_.ctx(), Request(pod), pod); }
  Status Validate(const Object& pod) { return plugin_->Validate(api_.ctx(), Request(pod)); }
  // Advances the clock while the plugin waits for a missing account.
  Status MutateWithoutPatience(Object& pod) {
    std::jthread time([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        api_.clock().Advance(std::chrono::milliseconds(100));
        std::this_thread::yield();
      }
    });
    return Mutate(pod);
  }

  WriteHarness api_;
  const AlwaysAllow authorizer_;
  const std::unique_ptr<const AdmissionPlugin> plugin_ =
      NewServiceAccount({.registry = api_.registry(), .authorizer = authorizer_});
  UserInfo user_;
};

TEST_F(ServiceAccountTest, PodGetsDefaultAccountTokenAndPullSecrets) {
  Account("default", R"({"imagePullSecrets":[{"name":"pull"}]})");
  Object object = PodOf(R"({"containers":[{"name":"c"}]})");
  const Status status = Mutate(object);
  ASSERT_TRUE(status.ok()) << status.message();
  const Pod& pod = *object.As<Pod>();
  EXPECT_EQ(pod.spec.serviceAccountName, "default");
  EXPECT_EQ(pod.spec.serviceAccount, "default");
  ASSERT_EQ(pod.spec.volumes.size(), 1u);
  EXPECT_EQ(pod.spec.volumes[0].name.size(), std::string("kube-api-access-xxxxx").size());
  EXPECT_EQ(pod.spec.containers[0].volumeMounts.at(0).name, pod.spec.volumes[0].name);
  ASSERT_EQ(pod.spec.imagePullSecrets.size(), 1u);
  EXPECT_EQ(pod.spec.imagePullSecrets[0].name, "pull");
  EXPECT_TRUE(Validate(object).ok());
}

TEST_F(ServiceAccountTest, FieldsOfThePodTakePrecedence) {
  Account("own", R"({"imagePullSecrets":[{"name":"pull"}]})");
  Object object = PodOf(R"({"serviceAccountName":"own","automountServiceAccountToken":false,
      "imagePullSecrets":[{"name":"other"}],"containers":[{"name":"c"}]})");
  ASSERT_TRUE(Mutate(object).ok());
  const Pod& pod = *object.As<Pod>();
  EXPECT_EQ(pod.spec.serviceAccountName, "own");
  EXPECT_TRUE(pod.spec.volumes.empty());
  EXPECT_EQ(pod.spec.imagePullSecrets.at(0).name, "other");
}

TEST_F(ServiceAccountTest, MissingAccountIsAnError) {
  Object pod = PodOf(R"({"serviceAccountName":"nobody"})");
  const Status refused = MutateWithoutPatience(pod);
  EXPECT_EQ(refused.code(), 403);
  EXPECT_EQ(refused.message(),
            "pods \"p\" is forbidden: error looking up service account default/nobody: "
            "serviceaccount \"nobody\" not found");
  // A Pod without an account is rejected by Validate.
  EXPECT_EQ(Validate(PodOf("{}")).message(),
            "pods \"p\" is forbidden: no service account specified for pod default/p");
}

TEST_F(ServiceAccountTest, WaitsForAnAccountThatIsCreatedLater) {
  // The clock does not advance: only the creation of the account ends the wait.
  std::jthread controller([&] { Account("default"); });
  Object pod = PodOf("{}");
  const Status status = Mutate(pod);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(ServiceAccountTest, MirrorPodsMustNotUseAccountsOrSecrets) {
  const std::string mirror = R"({"kubernetes.io/config.mirror":"x"})";
  const std::pair<std::string, std::string> kCases[] = {
      {R"({"serviceAccountName":"default"})", "a mirror pod may not reference service accounts"},
      {R"({"volumes":[{"name":"v","secret":{"secretName":"s"}}]})",
       "a mirror pod may not reference secrets"},
      {R"({"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]})",
       "a mirror pod may not use ServiceAccountToken volume projections"},
  };
  for (const auto& [spec, why] : kCases) {
    Object pod = PodOf(spec, mirror);
    EXPECT_EQ(Mutate(pod).message(), "pods \"p\" is forbidden: " + why);
    EXPECT_EQ(Validate(pod).message(), "pods \"p\" is forbidden: " + why);
  }
  Object plain = PodOf(R"({"containers":[{"name":"c"}]})", mirror);
  EXPECT_TRUE(Mutate(plain).ok());
  EXPECT_TRUE(Validate(plain).ok());
  EXPECT_EQ(plain.As<Pod>()->spec.serviceAccountName, "");
  EXPECT_TRUE(plain.As<Pod>()->spec.volumes.empty());
}

TEST_F(ServiceAccountTest, AccountsCanRestrictTheSecretsOfTheirPods) {
  Account("strict",
          R"({"metadata":{"annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}}})");
  const std::string rest = R"("serviceAccountName":"strict","automountServiceAccountToken":false})";
  Object pod =
      PodOf(R"({"containers":[{"name":"c","envFrom":[{"secretRef":{"name":"s"}}]}],)" + rest);
  const Status refused = Mutate(pod);
  EXPECT_EQ(refused.message(),
            "pods \"p\" is forbidden: container c with envFrom referencing "
            "secret.secretName=\"s\" is not allowed because service account strict does not "
            "reference that secret");
  EXPECT_EQ(Validate(pod).message(), refused.message());

  // CVE-2023-2728: ephemeral containers are restricted, too.
  const Object debugged = PodOf(
      R"({"ephemeralContainers":[{"name":"d","env":[{"name":"V","valueFrom":{"secretKeyRef":
          {"name":"s","key":"k"}}}]}],)" +
      rest);
  EXPECT_EQ(
      plugin_->Validate(api_.ctx(), Request(debugged, Operation::kUpdate, "ephemeralcontainers"))
          .code(),
      403);
  EXPECT_TRUE(plugin_->Validate(api_.ctx(), Request(debugged, Operation::kUpdate)).ok());
}

}  // namespace
}  // namespace cox::apiserver

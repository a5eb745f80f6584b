// SPDX-License-Identifier: Apache-2.0
#include "api/core/v1.h"
#include "apiserver/admission/plugins/always_pull_images/always_pull_images.h"
#include "apiserver/admission/plugins/deny_service_external_ips/deny_service_external_ips.h"
#include "apiserver/admission/plugins/extended_resource_toleration/extended_resource_toleration.h"
#include "apiserver/admission/plugins/owner_references_permission_enforcement/owner_references_permission_enforcement.h"
#include "apiserver/testing/admission_harness.h"

// Tests of plugins that are disabled by default.
namespace cox::apiserver {
namespace {

using core::v1::ConfigMap;
using core::v1::Pod;
using core::v1::Service;

class OptionalPluginsTest : public PluginTest {
 protected:
  static Object PodOf(const std::string& spec) {
    return Of<Pod>(R"({"metadata":{"name":"p","namespace":"default"},"spec":)" + spec + "}");
  }
};

TEST_F(OptionalPluginsTest, AlwaysPullImagesSetsThePullPolicy) {
  auto plugin = NewAlwaysPullImages(parts_);
  Object pod = PodOf(R"({"containers":[{"name":"c","image":"i","imagePullPolicy":"Never"}],
      "initContainers":[{"name":"i","image":"i","imagePullPolicy":"IfNotPresent"}],
      "volumes":[{"name":"v","image":{"reference":"r","pullPolicy":"Never"}}]})");
  EXPECT_EQ(OnCreate(*plugin, pod), "");
  const core::v1::PodSpec& spec = pod.As<Pod>()->spec;
  EXPECT_EQ(spec.containers[0].imagePullPolicy, "Always");
  EXPECT_EQ(spec.initContainers[0].imagePullPolicy, "Always");
  EXPECT_EQ(spec.volumes[0].volumeSource.image->pullPolicy, "Always");
}

TEST_F(OptionalPluginsTest, AlwaysPullImagesAppliesToEphemeralContainers) {
  auto plugin = NewAlwaysPullImages(parts_);
  const Object old = PodOf(R"({"containers":[{"name":"c","image":"i"}]})");
  Object pod = PodOf(R"({"containers":[{"name":"c","image":"i"}],
      "ephemeralContainers":[{"name":"e","image":"private","imagePullPolicy":"Never"}]})");
  EXPECT_EQ(OnUpdate(*plugin, pod, old, "ephemeralcontainers"), "");
  EXPECT_EQ(pod.As<Pod>()->spec.ephemeralContainers[0].ephemeralContainerCommon.imagePullPolicy,
            "Always");
}

TEST_F(OptionalPluginsTest, AlwaysPullImagesValidatesThePolicyUnlessImagesAreUnchanged) {
  auto plugin = NewAlwaysPullImages(parts_);
  const Object pod =
      PodOf(R"({"containers":[{"name":"c","image":"i","imagePullPolicy":"Never"}]})");
  EXPECT_EQ(plugin->Validate(api_.ctx(), Request(Operation::kCreate, pod)).message(),
            "pods \"p\" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "
            "\"Never\": supported values: \"Always\"");
  // The images are unchanged, so that the update is allowed.
  EXPECT_TRUE(plugin->Validate(api_.ctx(), Request(Operation::kUpdate, pod, &pod)).ok());
}

TEST_F(OptionalPluginsTest, PodsWithExtendedResourcesGetTolerations) {
  auto plugin = NewExtendedResourceToleration(parts_);
  Object pod = PodOf(R"({"containers":[{"name":"c","resources":{"requests":
      {"cpu":"1","example.com/gpu":"1"}}}],
      "initContainers":[{"name":"i","resources":{"requests":{"example.com/fpga":"1"}}}],
      "tolerations":[{"key":"own"}]})");
  for (int twice = 0; twice < 2; ++twice) EXPECT_EQ(OnCreate(*plugin, pod), "");
  const auto& tolerations = pod.As<Pod>()->spec.tolerations;
  ASSERT_EQ(tolerations.size(), 3u);
  EXPECT_EQ(tolerations[1].key, "example.com/fpga");
  EXPECT_EQ(tolerations[2].key, "example.com/gpu");
  EXPECT_EQ(tolerations[2].operator_, "Exists");
  EXPECT_EQ(tolerations[2].effect, "NoSchedule");
}

// A Service with an external IP intercepts the cluster's traffic to that address.
TEST_F(OptionalPluginsTest, CVE_2020_8554_NewExternalIPsAreRejected) {
  auto plugin = NewDenyServiceExternalIPs(parts_);
  const auto service = [](const std::string& ips) {
    return Of<Service>(R"({"metadata":{"name":"s","namespace":"default"},"spec":{"externalIPs":[)" +
                       ips + "]}}");
  };
  const std::string refused =
      "services \"s\" is forbidden: Use of external IPs is denied by admission control";
  Object none = service(""), one = service(R"("1.2.3.4")"), two = service(R"("1.2.3.4","5.6.7.8")");
  EXPECT_EQ(OnCreate(*plugin, none), "");
  EXPECT_EQ(OnCreate(*plugin, one), refused);
  EXPECT_EQ(OnUpdate(*plugin, one, none), refused);
  EXPECT_EQ(OnUpdate(*plugin, two, one), refused);
  EXPECT_EQ(OnUpdate(*plugin, one, one), "");
  EXPECT_EQ(OnUpdate(*plugin, one, two), "");
  EXPECT_EQ(OnUpdate(*plugin, none, one), "");
}

class OwnersTest : public OptionalPluginsTest {
 protected:
  static Object Owned(const std::string& references) {
    return Of<ConfigMap>(R"({"metadata":{"name":"m","namespace":"default","ownerReferences":[)" +
                         references + "]}}");
  }
  static std::string Reference(const std::string& kind, bool blocks) {
    return R"({"apiVersion":"v1","kind":")" + kind + R"(","name":"o","uid":"u")" +
           (blocks ? R"(,"blockOwnerDeletion":true})" : "}");
  }
  std::unique_ptr<const AdmissionPlugin> plugin_ = NewOwnerReferencesPermissionEnforcement(parts_);
};

TEST_F(OwnersTest, SettingOwnerReferencesRequiresDeletePermission) {
  Object none = Owned(""), owned = Owned(Reference("Pod", false));
  EXPECT_EQ(OnCreate(*plugin_, owned), "");
  EXPECT_EQ(OnUpdate(*plugin_, owned, owned), "");
  EXPECT_TRUE(authorizer_.authorized.empty());
  EXPECT_EQ(OnUpdate(*plugin_, owned, none),
            "configmaps \"m\" is forbidden: cannot set an ownerRef on a resource you can't delete: "
            ", <nil>");
  authorizer_.allowed = {"delete configmaps m"};
  EXPECT_EQ(OnUpdate(*plugin_, owned, none), "");
}

TEST_F(OwnersTest, BlockOwnerDeletionRequiresFinalizersPermission) {
  Object blocking = Owned(Reference("Pod", true));
  EXPECT_EQ(OnCreate(*plugin_, blocking),
            "configmaps \"m\" is forbidden: cannot set blockOwnerDeletion if an ownerReference "
            "refers to a resource you can't set finalizers on: , <nil>");
  authorizer_.allowed = {"update pods/finalizers o"};
  EXPECT_EQ(OnCreate(*plugin_, blocking), "");
  Object unknown = Owned(Reference("Nonsense", true));
  EXPECT_EQ(OnCreate(*plugin_, unknown),
            "configmaps \"m\" is forbidden: cannot set blockOwnerDeletion in this case because "
            "cannot find RESTMapping for APIVersion v1 Kind Nonsense: no matches for kind "
            "\"Nonsense\" in version \"v1\"");
}

TEST(AdmissionConfig, PluginsAreConfiguredInlineOrByPath) {
  const auto read = [](const std::string& path) -> Result<std::string> {
    return "kind: FromFile\npath: " + path;
  };
  Result<PluginConfigs> configs = ReadAdmissionConfig(R"(
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: A
  configuration: {kind: Here}
- name: B
  path: b.yaml
- name: C
)",
                                                      read);
  ASSERT_TRUE(configs.ok()) << configs.status().message();
  ASSERT_EQ(configs->size(), 2u);
  EXPECT_EQ(configs->at("A").At({"kind"})->as_string(), "Here");
  EXPECT_EQ(configs->at("B").At({"path"})->as_string(), "b.yaml");
}

TEST(AdmissionConfig, InvalidConfigurationsAreRejected) {
  const auto read = [](const std::string&) -> Result<std::string> {
    return Status::NotFound("no such file");
  };
  const std::string head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n";
  for (const std::string& text :
       {std::string("kind: Pod"), head + "plugin: []", head + "plugins: [{}]",
        head + "plugins: [{name: A, path: x}]",
        head + "plugins: [{name: A, configuration: {}}, {name: A, configuration: {}}]"}) {
    EXPECT_FALSE(ReadAdmissionConfig(text, read).ok()) << text;
  }
  EXPECT_FALSE(CheckPluginConfigs({{"Nonsense", Value()}}).ok());
  EXPECT_FALSE(CheckPluginConfigs({{"Priority", Value()}}).ok());
  EXPECT_FALSE(CheckPluginConfigs({{"PodSecurity", *json::Parse(R"({"kind":"X"})")}}).ok());
  EXPECT_FALSE(CheckPluginConfigs({{"ResourceQuota", *json::Parse(R"({"kind":"X"})")}}).ok());
}

}  // namespace
}  // namespace cox::apiserver

// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "api/core/v1.h"
#include "api/networking/v1.h"
#include "api/storage/v1.h"
#include "apiserver/admission/plugins/default_ingress_class/default_ingress_class.h"
#include "apiserver/admission/plugins/default_storage_class/default_storage_class.h"
#include "apiserver/admission/plugins/persistent_volume_claim_resize/persistent_volume_claim_resize.h"
#include "apiserver/admission/plugins/pod_topology_labels/pod_topology_labels.h"
#include "apiserver/testing/admission_harness.h"

namespace cox::apiserver {
namespace {

using core::v1::Binding;
using core::v1::Node;
using core::v1::PersistentVolumeClaim;
using core::v1::Pod;
using networking::v1::Ingress;
using networking::v1::IngressClass;
using storage::v1::StorageClass;

class ClassesTest : public PluginTest {
 protected:
  void AddStorageClass(const std::string& name, const std::string& annotations,
                       const std::string& more = "") {
    api_.Create(Of<StorageClass>(R"({"metadata":{"name":")" + name + R"(","annotations":{)" +
                                 annotations + R"(}},"provisioner":"x/y")" + more + "}"));
  }
  static Object Claim(const std::string& spec, const std::string& status = "{}") {
    return Of<PersistentVolumeClaim>(R"({"metadata":{"name":"c","namespace":"default"},"spec":)" +
                                     spec + R"(,"status":)" + status + "}");
  }
  std::string ClassFor(const AdmissionPlugin& plugin, Object claim) {
    EXPECT_EQ(OnCreate(plugin, claim), "");
    return claim.As<PersistentVolumeClaim>()->spec.storageClassName.value_or("<none>");
  }

  static constexpr const char* kDefault = R"("storageclass.kubernetes.io/is-default-class":"true")";
};

TEST_F(ClassesTest, ClaimWithoutClassGetsTheDefaultStorageClass) {
  auto plugin = NewDefaultStorageClass(parts_);
  EXPECT_EQ(ClassFor(*plugin, Claim("{}")), "<none>");
  AddStorageClass("plain", "");
  AddStorageClass("no", R"("storageclass.kubernetes.io/is-default-class":"false")");
  EXPECT_EQ(ClassFor(*plugin, Claim("{}")), "<none>");
  AddStorageClass("old", R"("storageclass.beta.kubernetes.io/is-default-class":"true")");
  EXPECT_EQ(ClassFor(*plugin, Claim("{}")), "old");
  EXPECT_EQ(ClassFor(*plugin, Claim(R"({"storageClassName":""})")), "");
  EXPECT_EQ(ClassFor(*plugin, Claim(R"({"storageClassName":"other"})")), "other");
}

TEST_F(ClassesTest, NewestDefaultClassIsUsedThenFirstByName) {
  auto plugin = NewDefaultStorageClass(parts_);
  AddStorageClass("b", kDefault);
  AddStorageClass("c", kDefault);
  EXPECT_EQ(ClassFor(*plugin, Claim("{}")), "b");
  api_.clock().Advance(std::chrono::seconds(2));
  AddStorageClass("young", kDefault);
  EXPECT_EQ(ClassFor(*plugin, Claim("{}")), "young");
}

TEST_F(ClassesTest, ClaimWithClassAnnotationIsNotDefaulted) {
  auto plugin = NewDefaultStorageClass(parts_);
  AddStorageClass("b", kDefault);
  EXPECT_EQ(ClassFor(*plugin, Of<PersistentVolumeClaim>(R"({"metadata":{"name":"c","annotations":
      {"volume.beta.kubernetes.io/storage-class":"x"}}})")),
            "<none>");
}

TEST_F(ClassesTest, IngressWithoutClassGetsTheDefaultIngressClass) {
  auto plugin = NewDefaultIngressClass(parts_);
  api_.Create(Of<IngressClass>(R"({"metadata":{"name":"i","annotations":
      {"ingressclass.kubernetes.io/is-default-class":"true"}},"spec":{"controller":"x.io/y"}})"));
  const struct {
    std::string_view json, want;
  } kCases[] = {
      {R"({"metadata":{"name":"a"}})", "i"},
      {R"({"metadata":{"name":"a"},"spec":{"ingressClassName":"o"}})", "o"},
      {R"({"metadata":{"name":"a","annotations":{"kubernetes.io/ingress.class":"n"}}})", "<none>"},
  };
  for (const auto& c : kCases) {
    Object ingress = Of<Ingress>(c.json);
    EXPECT_EQ(OnCreate(*plugin, ingress), "");
    EXPECT_EQ(ingress.As<Ingress>()->spec.ingressClassName.value_or("<none>"), c.want) << c.json;
  }
}

TEST_F(ClassesTest, ClaimsExpandOnlyIfTheirClassAllowsIt) {
  auto plugin = NewPersistentVolumeClaimResize(parts_);
  AddStorageClass("grows", "", R"(,"allowVolumeExpansion":true)");
  AddStorageClass("stays", "");
  const std::string refused =
      "persistentvolumeclaims \"c\" is forbidden: only dynamically provisioned pvc can be resized "
      "and the storageclass that provisions the pvc must support resize";
  const struct {
    std::string class_name, phase, from, to, want;
  } kCases[] = {
      {"grows", "Bound", "1Gi", "2Gi", ""},
      {"grows", "Bound", "2Gi", "1Gi", ""},
      {"stays", "Bound", "1Gi", "1024Mi", ""},
      {"stays", "Bound", "1Gi", "2Gi", refused},
      {"gone", "Bound", "1Gi", "2Gi", refused},
      {"", "Bound", "1Gi", "2Gi", refused},
      {"grows", "Pending", "1Gi", "2Gi",
       "persistentvolumeclaims \"c\" is forbidden: Only bound persistent volume claims can be "
       "expanded"},
  };
  for (const auto& c : kCases) {
    const auto claim = [&](const std::string& size) {
      return Claim(R"({"storageClassName":")" + c.class_name +
                       R"(","resources":{"requests":{"storage":")" + size + R"("}}})",
                   R"({"phase":")" + c.phase + "\"}");
    };
    const Object old = claim(c.from);
    Object now = claim(c.to);
    EXPECT_EQ(OnUpdate(*plugin, now, old), c.want) << c.class_name << c.phase << c.to;
    EXPECT_EQ(OnUpdate(*plugin, now, old, "status"), "");
  }
}

class TopologyTest : public PluginTest {
 protected:
  TopologyTest() {
    api_.Create(Of<Node>(R"({"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z",
        "topology.kubernetes.io/region":"r","other":"o"}}})"));
  }
  std::unique_ptr<const AdmissionPlugin> plugin_ = NewPodTopologyLabels(parts_);
};

TEST_F(TopologyTest, PodWithNodeNameGetsTheTopologyLabelsOfTheNode) {
  Object pod = Of<Pod>(R"({"metadata":{"name":"p","labels":{"topology.kubernetes.io/zone":"lie",
      "own":"x"}},"spec":{"nodeName":"n"}})");
  EXPECT_EQ(OnCreate(*plugin_, pod), "");
  const Map<std::string>& labels = pod.object_meta()->labels;
  ASSERT_EQ(labels.size(), 3u);
  EXPECT_EQ(*labels.Get("topology.kubernetes.io/zone"), "z");
  EXPECT_EQ(*labels.Get("topology.kubernetes.io/region"), "r");
  for (std::string_view node : {"", "gone"}) {
    Object other =
        Of<Pod>(R"({"metadata":{"name":"p"},"spec":{"nodeName":")" + std::string(node) + "\"}}");
    EXPECT_EQ(OnCreate(*plugin_, other), "");
    EXPECT_TRUE(other.object_meta()->labels.empty());
  }
}

TEST_F(TopologyTest, BoundPodGetsTheTopologyLabelsOfTheNode) {
  const struct {
    std::string pod, path;
  } kCases[] = {{"a", "/pods/a/binding"}, {"b", "/bindings"}};
  for (const auto& c : kCases) {
    api_.Create(Of<Pod>(R"({"metadata":{"name":")" + c.pod + R"(","namespace":"default"},
        "spec":{"containers":[{"name":"c","image":"i"}]}})"));
    EXPECT_EQ(api_.Do({.method = "POST",
                       .target = "/api/v1/namespaces/default" + c.path,
                       .body = R"({"metadata":{"name":")" + c.pod +
                               R"("},"target":{"kind":"Node","name":"n"}})"})
                  .exchange()
                  .status(),
              201);
    const Pod pod = api_.Read<Pod>(c.pod, "default");
    EXPECT_EQ(pod.spec.nodeName, "n") << c.path;
    ASSERT_EQ(pod.metadata.labels.size(), 2u) << c.path;
    EXPECT_EQ(*pod.metadata.labels.Get("topology.kubernetes.io/zone"), "z");
  }
}

}  // namespace
}  // namespace cox::apiserver

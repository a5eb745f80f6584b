// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/defaults.h"

#include <gtest/gtest.h>

#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/kinds/core/pod/validation/qos.h"
#include "apiserver/testing/test_pods.h"

namespace cox::apiserver {
namespace {

using core::v1::Pod;

TEST(PodDefaults, SpecDefaults) {
  EXPECT_EQ(json::Encode(PodWith("").spec),
            R"({"containers":[{"name":"c","image":"registry.example/app:1","resources":{},)"
            R"("terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",)"
            R"("imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always",)"
            R"("terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},)"
            R"("schedulerName":"default-scheduler","enableServiceLinks":true})");
}

TEST(PodDefaults, MutableImagesArePulledAlways) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"x", "Always"},
      {"x:latest", "Always"},
      {"x:1", "IfNotPresent"},
      {"reg:5000/x", "Always"},
      {"reg:5000/x:2", "IfNotPresent"},
      {"x@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "IfNotPresent"},
  };
  for (const auto& [image, policy] : cases) {
    Pod pod = PodWith(R"("containers":[{"name":"c","image":")" + std::string(image) + R"("}])");
    EXPECT_EQ(pod.spec.containers[0].imagePullPolicy, policy) << image;
  }
}

TEST(PodDefaults, ContainerDefaults) {
  Pod pod = PodWithContainer(
      R"("ports":[{"containerPort":80}],"env":[{"name":"A","valueFrom":{"fieldRef":{
         "fieldPath":"metadata.name"}}}],"livenessProbe":{"httpGet":{"port":80}},
         "readinessProbe":{"grpc":{"port":1}},"lifecycle":{"preStop":{"httpGet":{"port":1}}},
         "resources":{"limits":{"cpu":"1.0001"}})");
  const core::v1::Container& c = pod.spec.containers[0];
  EXPECT_EQ(c.ports[0].protocol, "TCP");
  EXPECT_EQ(c.env[0].valueFrom->fieldRef->apiVersion, "v1");
  EXPECT_EQ(json::Encode(*c.livenessProbe),
            R"({"httpGet":{"path":"/","port":80,"scheme":"HTTP"},"timeoutSeconds":1,)"
            R"("periodSeconds":10,"successThreshold":1,"failureThreshold":3})");
  EXPECT_EQ(c.readinessProbe->handler.grpc->service, "");
  EXPECT_EQ(c.lifecycle->preStop->httpGet->path, "/");
  EXPECT_EQ(json::Encode(c.resources), R"({"limits":{"cpu":"1001m"},"requests":{"cpu":"1001m"}})");
}

TEST(PodDefaults, VolumeDefaults) {
  Pod pod = PodWith(R"("volumes":[{"name":"a"},{"name":"b","secret":{"secretName":"s"}},
      {"name":"c","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}},
      {"name":"d","hostPath":{"path":"/x"}},{"name":"e","image":{"reference":"x"}},
      {"name":"f","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}])");
  std::vector<std::string> volumes;
  for (const core::v1::Volume& volume : pod.spec.volumes) volumes.push_back(json::Encode(volume));
  const std::vector<std::string> want = {
      R"({"name":"a","emptyDir":{}})",
      R"({"name":"b","secret":{"secretName":"s","defaultMode":420}})",
      R"({"name":"c","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3600,)"
      R"("path":"t"}}],"defaultMode":420}})",
      R"({"name":"d","hostPath":{"path":"/x","type":""}})",
      R"({"name":"e","image":{"reference":"x","pullPolicy":"Always"}})",
      R"({"name":"f","ephemeral":{"volumeClaimTemplate":{"metadata":{},"spec":{"resources":{},)"
      R"("volumeMode":"Filesystem"}}}})",
  };
  EXPECT_EQ(volumes, want);
}

TEST(PodDefaults, HostNetworkSetsHostPorts) {
  Pod pod = PodWithContainer(R"("ports":[{"containerPort":80}])", R"("hostNetwork":true)");
  EXPECT_EQ(pod.spec.containers[0].ports[0].hostPort, 80);
}

TEST(PodDefaults, NegativeGracePeriodBecomesOne) {
  EXPECT_EQ(PodWith(R"("terminationGracePeriodSeconds":-5)").spec.terminationGracePeriodSeconds, 1);
}

TEST(PodDefaults, ServiceAccountAndServiceAccountNameAreEqual) {
  EXPECT_EQ(PodWith(R"("serviceAccount":"y")").spec.serviceAccountName, "y");
  EXPECT_EQ(PodWith(R"("serviceAccountName":"x")").spec.serviceAccount, "x");
}

TEST(PodDefaults, TemplatesGetFewerDefaults) {
  core::v1::PodTemplateSpec object = FromJson<core::v1::PodTemplateSpec>(
      R"({"spec":{"containers":[{"name":"c","image":"x","ports":[{"containerPort":80}],
          "resources":{"limits":{"cpu":"1"}}}],"hostNetwork":true,
          "terminationGracePeriodSeconds":-5}})");
  SetPodTemplateDefaults(object);
  EXPECT_TRUE(object.spec.containers[0].resources.requests.empty());
  EXPECT_EQ(object.spec.containers[0].ports[0].hostPort, 0);
  EXPECT_FALSE(object.spec.enableServiceLinks);
  EXPECT_EQ(object.spec.terminationGracePeriodSeconds, -5);
  EXPECT_EQ(object.spec.schedulerName, "default-scheduler");
}

TEST(PodDefaults, PodRequestsAreDerivedFromContainersAndLimits) {
  Pod pod = PodWithContainer(R"("resources":{"requests":{"cpu":"1"}})",
                             R"("resources":{"limits":{"cpu":"4","memory":"1Gi"}})");
  EXPECT_EQ(json::Encode(*pod.spec.resources),
            R"({"limits":{"cpu":"4","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}})");
}

TEST(PodDefaults, AreIdempotent) {
  Pod pod = PodWithContainer(
      R"("resources":{"limits":{"cpu":"1"}},"livenessProbe":{"httpGet":{"port":80}})",
      R"("volumes":[{"name":"a"}],"hostNetwork":true)");
  const std::string once = json::Encode(pod);
  SetPodDefaults(pod);
  EXPECT_EQ(json::Encode(pod), once);
}

TEST(PodDefaults, PodIPTakesPrecedenceOverPodIPs) {
  Pod pod;
  pod.status.podIP = "10.0.0.1";
  pod.status.podIPs = {{.ip = "10.0.0.9"}};
  SetPodDefaults(pod);
  EXPECT_EQ(pod.status.podIPs[0].ip, "10.0.0.1");
}

TEST(PodQos, Classes) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {R"({})", "BestEffort"},
      {R"({"requests":{"ephemeral-storage":"1Gi"}})", "BestEffort"},
      {R"({"limits":{"cpu":"0"}})", "BestEffort"},
      {R"({"requests":{"cpu":"1"}})", "Burstable"},
      {R"({"limits":{"cpu":"1"}})", "Burstable"},
      {R"({"limits":{"cpu":"1","memory":"1Gi"}})", "Guaranteed"},
      {R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m"}})", "Burstable"},
  };
  for (const auto& [resources, want] : cases) {
    Pod pod = PodWithContainer(R"("resources":)" + std::string(resources));
    EXPECT_EQ(ComputePodQOS(pod.spec), want) << resources;
  }
  Pod whole = PodWith(R"("resources":{"limits":{"cpu":"2","memory":"2Gi"}})");
  EXPECT_EQ(ComputePodQOS(whole.spec), "Guaranteed");
}

}  // namespace
}  // namespace cox::apiserver

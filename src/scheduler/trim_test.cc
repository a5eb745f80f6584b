// SPDX-License-Identifier: Apache-2.0
#include "scheduler/trim.h"

#include <gtest/gtest.h>

#include "scheduler/config/profile.h"
#include "scheduler/testing/test_objects.h"

namespace cox::scheduler {
namespace {

TEST(Trim, TrimKeepsUnsupportedRequirements) {
  core::v1::Pod pod = TestPod("p");
  auto& affinity = pod.spec.affinity.emplace();
  affinity.podAffinity.emplace().requiredDuringSchedulingIgnoredDuringExecution.emplace_back();
  affinity.podAntiAffinity.emplace().requiredDuringSchedulingIgnoredDuringExecution.emplace_back();
  pod.spec.topologySpreadConstraints.emplace_back().whenUnsatisfiable = "DoNotSchedule";
  pod.spec.volumes.emplace_back().volumeSource.persistentVolumeClaim.emplace();
  pod.spec.volumes.emplace_back().volumeSource.ephemeral.emplace();
  pod.spec.resourceClaims.emplace_back().name = "gpu";
  core::v1::Pod trimmed = pod;
  Trim(trimmed);
  const auto profile = *Profile::Create(ProfileOptions{}, PluginHandle{});
  EXPECT_EQ(profile->Sign(*Info(pod)), profile->Sign(*Info(trimmed)));
  EXPECT_NE(profile->Sign(*Info(pod)), profile->Sign(*Info(TestPod("p"))));
}

TEST(Trim, TrimKeepsFieldsThatPluginsRead) {
  core::v1::Pod pod = TestPod("p", "100m", "1Gi");
  pod.metadata.labels["app"] = "web";
  pod.metadata.annotations["a"] = "b";
  pod.spec.nodeSelector["disk"] = "ssd";
  pod.spec.tolerations.emplace_back().key = "k";
  auto& container = pod.spec.containers[0];
  container.command = {"sleep"};
  container.env.emplace_back().name = "E";
  container.ports.emplace_back().hostPort = 80;
  container.ports.back().protocol = "TCP";
  auto& sidecar = pod.spec.initContainers.emplace_back();
  sidecar.name = "s";
  sidecar.restartPolicy = "Always";
  sidecar.resources.requests["cpu"] = Q("50m");
  auto& resized = pod.status.containerStatuses.emplace_back();
  resized.name = "c";
  resized.image = "image";
  resized.allocatedResources["cpu"] = Q("300m");
  core::v1::Pod trimmed = pod;
  trimmed.status.containerStatuses.emplace_back().name = "other";
  Trim(trimmed);
  EXPECT_TRUE(trimmed.spec.containers[0].env.empty());
  EXPECT_TRUE(trimmed.metadata.annotations.empty());
  EXPECT_EQ(trimmed.status.containerStatuses.size(), 1U);

  const PodInfoPtr whole = Info(pod);
  const PodInfoPtr less = Info(trimmed);
  EXPECT_EQ(less->requests.milli_cpu, 350);
  EXPECT_EQ(whole->requests.milli_cpu, less->requests.milli_cpu);
  EXPECT_EQ(whole->requests.memory, less->requests.memory);
  EXPECT_EQ(whole->ports, less->ports);
  const auto profile = *Profile::Create(ProfileOptions{}, PluginHandle{});
  EXPECT_EQ(profile->Sign(*whole), profile->Sign(*less));
}

}  // namespace
}  // namespace cox::scheduler

// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/resources.h"

#include <gtest/gtest.h>

#include "scheduler/testing/test_objects.h"

namespace cox::scheduler {
namespace {

using core::v1::Container;
using core::v1::Pod;

Container MakeContainer(std::string name, std::string_view cpu, std::string_view memory) {
  Container container;
  container.name = std::move(name);
  if (!cpu.empty()) container.resources.requests["cpu"] = Q(cpu);
  if (!memory.empty()) container.resources.requests["memory"] = Q(memory);
  return container;
}
Container Sidecar(std::string name, std::string_view cpu, std::string_view memory) {
  Container container = MakeContainer(std::move(name), cpu, memory);
  container.restartPolicy = "Always";
  return container;
}

TEST(ResourcesTest, RequestsOfContainersAreAdded) {
  Pod pod = TestPod("p", "500m", "1Gi");
  pod.spec.containers.push_back(MakeContainer("d", "250m", ""));
  const Amounts amounts = RequestsOf(pod);
  EXPECT_EQ(amounts.milli_cpu, 750);
  EXPECT_EQ(amounts.memory, int64_t{1} << 30);
}

TEST(ResourcesTest, LargestInitContainerCountsIfLarger) {
  Pod pod = TestPod("p", "1", "1Gi");
  pod.spec.initContainers = {MakeContainer("a", "3", "100Mi"), MakeContainer("b", "2", "2Gi")};
  const Amounts amounts = RequestsOf(pod);
  EXPECT_EQ(amounts.milli_cpu, 3000);
  EXPECT_EQ(amounts.memory, int64_t{2} << 30);
}

TEST(ResourcesTest, SidecarsRunWithContainersAndLaterInitContainers) {
  Pod pod = TestPod("p", "1", "");
  pod.spec.initContainers = {MakeContainer("before", "2", ""), Sidecar("s", "500m", ""),
                             MakeContainer("after", "1800m", "")};
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 2300);  // "after" together with the sidecar
  pod.spec.initContainers[2] = MakeContainer("after", "100m", "");
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 2000);  // "before", which runs alone
  pod.spec.initContainers[0] = MakeContainer("before", "100m", "");
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 1500);  // containers and sidecar
}

TEST(ResourcesTest, PodLevelRequestsReplaceTheSum) {
  Pod pod = TestPod("p", "1", "1Gi");
  pod.spec.containers[0].resources.requests["example.com/gpu"] = Q("1");
  pod.spec.resources.emplace().requests["cpu"] = Q("4");
  pod.spec.overhead["cpu"] = Q("100m");
  const Amounts amounts = RequestsOf(pod);
  EXPECT_EQ(amounts.milli_cpu, 4100);
  EXPECT_EQ(amounts.memory, int64_t{1} << 30);
  EXPECT_EQ(amounts.Get("example.com/gpu"), 1);
}

TEST(ResourcesTest, DefaultsApplyToContainersWithoutRequests) {
  Pod pod = TestPod("p", "1", "");
  pod.spec.containers.push_back(MakeContainer("d", "", "1Gi"));
  const Amounts amounts = RequestsWithDefaults(pod);
  EXPECT_EQ(amounts.milli_cpu, 1000 + kDefaultMilliCpu);
  EXPECT_EQ(amounts.memory, (int64_t{1} << 30) + kDefaultMemory);
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 1000);
}

TEST(ResourcesTest, ResizedPodCountsWithTheLargerAmount) {
  Pod pod = TestPod("p", "1", "");
  auto& status = pod.status.containerStatuses.emplace_back();
  status.name = "c";
  status.allocatedResources["cpu"] = Q("2");
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 2000);
  pod.spec.containers[0].resources.requests["cpu"] = Q("8");
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 8000);
  auto& condition = pod.status.conditions.emplace_back();
  condition.type = "PodResizePending";
  condition.reason = "Infeasible";
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 2000);
}

}  // namespace
}  // namespace cox::scheduler

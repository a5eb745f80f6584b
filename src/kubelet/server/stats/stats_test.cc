// SPDX-License-Identifier: Apache-2.0
#include "kubelet/server/stats/stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "object/codec/json/json.h"
#include "runtime/labels.h"

namespace cox::kubelet {
namespace {

using testing::HasSubstr;
using testing::Not;

cri::v1::UInt64Value U(int64_t value) { return {.value = value}; }

Usage TestUsage() {
  Usage usage;
  usage.node_name = "node-1";
  usage.now = Time::FromUnix(1'900'000'000);
  usage.node.cpu_nanos = 2'500'000'000;
  usage.node.memory_working_set_bytes = 1000;
  usage.machine.cpus = 4;
  usage.machine.memory_bytes = 4096;
  usage.images = {.capacity_bytes = 100, .available_bytes = 60, .inodes = 10, .inodes_free = 9};
  const runtime::PodName pod{"u-1", "default", "web"};
  cri::v1::PodSandboxConfig sandbox;
  runtime::MarkSandbox(pod, 0, &sandbox);
  cri::v1::ContainerConfig container;
  runtime::MarkContainer(pod, "main", 0, 1, &container);
  cri::v1::PodSandboxStats& of_pod = usage.sandboxes.emplace_back();
  of_pod.attributes = cri::v1::PodSandboxAttributes{.id = "s", .labels = sandbox.labels};
  auto& linux_stats = of_pod.linux.emplace();
  linux_stats.cpu = cri::v1::CpuUsage{.usage_core_nano_seconds = U(3'000'000'000)};
  linux_stats.network =
      cri::v1::NetworkUsage{.default_interface = cri::v1::NetworkInterfaceUsage{
                                .name = "eth0", .rx_bytes = U(5), .tx_bytes = U(6)}};
  cri::v1::ContainerStats& stats = usage.containers.emplace_back();
  stats.attributes = cri::v1::ContainerAttributes{.id = "c", .labels = container.labels};
  stats.cpu = cri::v1::CpuUsage{.timestamp = 1'800'000'000'000'000'000,
                                .usage_core_nano_seconds = U(1'500'000'000)};
  stats.memory = cri::v1::MemoryUsage{.working_set_bytes = U(77)};
  usage.containers.emplace_back();  // without attributes
  runtime::PodState& state = usage.pods.emplace_back();
  state.uid = "u-1";
  state.containers.push_back(
      {.id = "c", .name = "main", .created = Clock::WallTime(std::chrono::seconds(1'700'000'000))});
  return usage;
}

TEST(StatsTest, SummaryContainsNodePodsAndContainers) {
  const Value summary = StatsSummary(TestUsage());
  EXPECT_EQ(summary.At({"node", "nodeName"})->as_string(), "node-1");
  EXPECT_EQ(summary.At({"node", "cpu", "usageCoreNanoSeconds"})->as_int(), 2'500'000'000);
  ASSERT_EQ(summary.Find("pods")->as_array().size(), 1u);
  const Value& pod = summary.Find("pods")->as_array()[0];
  EXPECT_EQ(pod.At({"podRef", "name"})->as_string(), "web");
  EXPECT_EQ(pod.At({"podRef", "uid"})->as_string(), "u-1");
  EXPECT_EQ(pod.At({"network", "rxBytes"})->as_int(), 5);
  ASSERT_EQ(pod.Find("containers")->as_array().size(), 1u);
  const Value& container = pod.Find("containers")->as_array()[0];
  EXPECT_EQ(container.Find("name")->as_string(), "main");
  EXPECT_EQ(container.Find("startTime")->as_string(), "2023-11-14T22:13:20Z");
  EXPECT_EQ(container.At({"memory", "workingSetBytes"})->as_int(), 77);
  EXPECT_EQ(container.At({"cpu", "time"})->as_string(), "2027-01-15T08:00:00Z");
  // Values that the runtime does not report are omitted.
  EXPECT_EQ(container.At({"memory", "rssBytes"}), nullptr);
}

TEST(StatsTest, MetricsHaveUpstreamNames) {
  const std::string resource = ResourceMetrics(TestUsage());
  const std::string labels = R"({container="main",namespace="default",pod="web"} )";
  EXPECT_THAT(resource, HasSubstr("container_cpu_usage_seconds_total" + labels + "1.5\n"));
  EXPECT_THAT(resource, HasSubstr("container_memory_working_set_bytes" + labels + "77\n"));
  EXPECT_THAT(resource, HasSubstr("container_start_time_seconds" + labels + "1.7e+09\n"));
  EXPECT_THAT(resource, HasSubstr("node_cpu_usage_seconds_total 2.5\n"));
  EXPECT_THAT(resource,
              HasSubstr("pod_cpu_usage_seconds_total{namespace=\"default\",pod=\"web\"} 3\n"));
  EXPECT_THAT(resource, HasSubstr("# TYPE pod_memory_working_set_bytes gauge\n"));
  EXPECT_THAT(resource, Not(HasSubstr("\npod_memory_working_set_bytes{")));
  EXPECT_THAT(resource, HasSubstr("resource_scrape_error 0\n"));
  const std::string cadvisor = CadvisorMetrics(TestUsage());
  EXPECT_THAT(cadvisor, HasSubstr("machine_cpu_cores 4\n"));
  EXPECT_THAT(cadvisor,
              HasSubstr("container_network_receive_bytes_total{interface=\"eth0\",namespace="));
}

TEST(StatsTest, FailureToReadUsageIsReportedAsAMetric) {
  const std::string resource = ResourceMetrics(Status::Unavailable("no runtime"));
  EXPECT_THAT(resource, HasSubstr("\nresource_scrape_error 1\n"));
  EXPECT_THAT(resource, HasSubstr("# TYPE node_cpu_usage_seconds_total counter\n"));
  EXPECT_THAT(resource, Not(HasSubstr("\nnode_cpu_usage_seconds_total ")));
}

TEST(StatsTest, ReadsNodeUsageFromKernel) {
  EXPECT_EQ(CpuNanos("cpu  100 0 50 900 10 0 5 1 0 0\ncpu0 1 1 1\n"), 1'560'000'000);
  const Result<NodeUsage> usage = ReadNodeUsage("", "/");
  ASSERT_TRUE(usage.ok()) << usage.status().ToString();
  EXPECT_GT(usage->cpu_nanos, 0);
  EXPECT_GT(usage->memory_working_set_bytes, 0);
  EXPECT_GT(usage->started.unix_seconds(), 0);
}

}  // namespace
}  // namespace cox::kubelet

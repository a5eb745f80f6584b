// SPDX-License-Identifier: Apache-2.0
#include "kubelet/environment/fields.h"

#include <gtest/gtest.h>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using testing::MakePod;

TEST(FieldsTest, PodFields) {
  auto pod = MakePod(
      R"({"nodeName":"n1","serviceAccountName":"sa"})",
      R"({"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],"hostIP":"192.0.2.1"})");
  pod.metadata.labels = {{"b", "2"}, {"a", "one \"1\""}};
  pod.metadata.annotations = {{"x.io/y", "z"}};
  const std::pair<std::string, std::string> kCases[] = {
      {"metadata.name", "web"},
      {"metadata.namespace", "default"},
      {"metadata.uid", "u1"},
      {"metadata.labels", "a=\"one \\\"1\\\"\"\nb=\"2\""},
      {"metadata.labels['b']", "2"},
      {"metadata.labels['none']", ""},
      {"metadata.annotations['x.io/y']", "z"},
      {"spec.nodeName", "n1"},
      {"spec.serviceAccountName", "sa"},
      {"status.podIP", "10.0.0.1"},
      {"status.podIPs", "10.0.0.1,fd00::1"},
      {"status.hostIP", "192.0.2.1"},
      {"status.hostIPs", "192.0.2.1"},
  };
  for (const auto& [path, want] : kCases) {
    const auto got = FieldValue(pod, path, {});
    ASSERT_TRUE(got.ok()) << path;
    EXPECT_EQ(*got, want) << path;
  }
  EXPECT_EQ(*FieldValue(pod, "status.podIP", {.pod_ips = {"10.9.9.9"}}), "10.9.9.9");
  for (const char* path : {"spec.containers", "metadata.labels['x'", "metadata.labels[x]", ""}) {
    EXPECT_EQ(FieldValue(pod, path, {}).status().message(),
              std::string("unsupported fieldPath: ") + path);
  }
}

TEST(FieldsTest, ResourceFields) {
  const auto pod = MakePod(R"({"containers":[{"name":"a","resources":{
      "limits":{"cpu":"1500m","memory":"100Mi"},"requests":{"cpu":"250m"}}},{"name":"b"}]})");
  const PodFacts facts{.allocatable_milli_cpu = 4000, .allocatable_memory = 1 << 30};
  const struct {
    std::string container, resource, divisor, want;
  } kCases[] = {
      {"", "limits.cpu", "0", "2"},
      {"", "limits.cpu", "1m", "1500"},
      {"", "requests.cpu", "0", "1"},
      {"", "requests.cpu", "1m", "250"},
      {"", "limits.memory", "0", "104857600"},
      {"", "limits.memory", "1Mi", "100"},
      {"", "limits.memory", "1M", "105"},
      {"", "requests.memory", "0", "0"},
      {"b", "limits.cpu", "0", "4"},
      {"b", "limits.memory", "1Gi", "1"},
      {"b", "requests.cpu", "0", "0"},
      {"b", "limits.hugepages-2Mi", "0", "0"},
  };
  for (const auto& c : kCases) {
    const auto got = ResourceFieldValue(pod,
                                        {.containerName = c.container,
                                         .resource = c.resource,
                                         .divisor = *Quantity::Parse(c.divisor)},
                                        "a", facts);
    ASSERT_TRUE(got.ok()) << c.resource << got.status().ToString();
    EXPECT_EQ(*got, c.want) << c.container << " " << c.resource << " " << c.divisor;
  }
  EXPECT_FALSE(
      ResourceFieldValue(pod, {.containerName = "z", .resource = "limits.cpu"}, "a", {}).ok());
  EXPECT_FALSE(ResourceFieldValue(pod, {.resource = "limits.gpu"}, "a", {}).ok());
  EXPECT_FALSE(ResourceFieldValue(pod, {.resource = "cpu"}, "a", {}).ok());
}

}  // namespace
}  // namespace cox::kubelet

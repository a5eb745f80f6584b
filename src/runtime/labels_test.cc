// SPDX-License-Identifier: Apache-2.0
#include "runtime/labels.h"

#include <gtest/gtest.h>

namespace cox::runtime {
namespace {

TEST(Labels, MarkSandboxSetsPodLabels) {
  cri::v1::PodSandboxConfig config;
  config.labels["app"] = "web";
  MarkSandbox({"u1", "default", "web-0"}, 2, &config);
  EXPECT_EQ(config.metadata->uid, "u1");
  EXPECT_EQ(config.metadata->namespace_, "default");
  EXPECT_EQ(config.metadata->name, "web-0");
  EXPECT_EQ(config.metadata->attempt, 2);
  EXPECT_EQ(*config.labels.Get("app"), "web");
  EXPECT_EQ(*config.labels.Get("io.kubernetes.pod.uid"), "u1");
  const PodName pod = PodOf(config.labels);
  EXPECT_EQ(pod.uid, "u1");
  EXPECT_EQ(pod.ns, "default");
  EXPECT_EQ(pod.name, "web-0");
}

TEST(Labels, MarkContainerSetsSpecHashAndRestartCount) {
  for (const uint64_t hash : {uint64_t{0}, uint64_t{0xdeadbeef}, UINT64_MAX}) {
    cri::v1::ContainerConfig config;
    MarkContainer({"u1", "default", "web-0"}, "c", 3, hash, &config);
    EXPECT_EQ(HashOf(config.annotations), hash);
    EXPECT_EQ(*config.labels.Get("io.kubernetes.container.name"), "c");
    EXPECT_EQ(*config.annotations.Get("io.kubernetes.container.restartCount"), "3");
    EXPECT_EQ(config.metadata->attempt, 3);
  }
}

TEST(Labels, MissingOrInvalidLabelsGiveEmptyValues) {
  EXPECT_EQ(PodOf({}).uid, "");
  EXPECT_EQ(HashOf({}), 0u);
  EXPECT_EQ(HashOf({{"io.kubernetes.container.hash", "none"}}), 0u);
}

}  // namespace
}  // namespace cox::runtime

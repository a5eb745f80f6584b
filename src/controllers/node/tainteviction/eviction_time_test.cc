// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/tainteviction/eviction_time.h"

#include <gtest/gtest.h>

namespace cox::controllers {
namespace {

using core::v1::Pod;
using core::v1::Taint;

const Time kAdded = Time::FromUnix(1000);

Taint NoExecute(std::string key, std::string value = "") {
  return {
      .key = std::move(key), .value = std::move(value), .effect = "NoExecute", .timeAdded = kAdded};
}

TEST(EvictionTime, PodIsEvictedWhenFirstTolerationExpires) {
  Pod pod;
  EXPECT_EQ(EvictionTime(pod, {}), std::nullopt);
  EXPECT_EQ(EvictionTime(pod, {NoExecute("a")}), Time());  // at once
  pod.spec.tolerations = {{.key = "a", .operator_ = "Exists"}};
  EXPECT_EQ(EvictionTime(pod, {NoExecute("a")}), std::nullopt);  // never
  EXPECT_EQ(EvictionTime(pod, {NoExecute("a"), NoExecute("b")}), Time());
  pod.spec.tolerations.push_back({.key = "b", .operator_ = "Exists", .tolerationSeconds = 300});
  pod.spec.tolerations.push_back({.key = "c", .operator_ = "Exists", .tolerationSeconds = 60});
  EXPECT_EQ(EvictionTime(pod, {NoExecute("a"), NoExecute("b")}), Time::FromUnix(1300));
  EXPECT_EQ(EvictionTime(pod, {NoExecute("b"), NoExecute("c")}), Time::FromUnix(1060));
  pod.spec.tolerations[1].tolerationSeconds = 0;
  EXPECT_EQ(EvictionTime(pod, {NoExecute("b")}), Time());
}

TEST(EvictionTime, TolerationCountsFromBindingOfLaterPod) {
  Pod pod;
  pod.spec.tolerations = {{.key = "a", .operator_ = "Exists", .tolerationSeconds = 60}};
  pod.status.conditions = {
      {.type = "PodScheduled", .status = "True", .lastTransitionTime = Time::FromUnix(2000)}};
  EXPECT_EQ(EvictionTime(pod, {NoExecute("a")}), Time::FromUnix(2060));
}

TEST(EvictionTime, OnlyNoExecuteEvicts) {
  core::v1::Node node;
  node.spec.taints = {{.key = "a", .effect = "NoSchedule"}, {.key = "b", .effect = "NoExecute"}};
  ASSERT_EQ(NoExecuteTaints(node).size(), 1u);
  EXPECT_EQ(NoExecuteTaints(node)[0].key, "b");
}

}  // namespace
}  // namespace cox::controllers
